#!/bin/sh
# The form that the compiler is asked for is the form that slim makes.
for form in size balance speed none; do
    printf 'driver = "550.54.14"\ncompress = "%s"\n' $form >cuslim.toml
    echo "$form"
    ./run plain.fatbin -o new.fatbin -q >/dev/null && ./show new.fatbin
done
