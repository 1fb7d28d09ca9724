#!/bin/sh
cuslim arch '8.0;8.6 9.0a+PTX' && cuslim arch 'Blackwell 12.0f'
