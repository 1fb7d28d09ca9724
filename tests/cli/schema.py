"""Validates JSON against the subset of JSON Schema (2020-12) that docs/schema uses.

A keyword outside the subset is an error in the schema, so that nothing passes unread.
"""

import re

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}
KEYWORDS = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "properties",
            "required", "additionalProperties", "items", "enum", "const", "pattern", "minimum",
            "maximum", "minItems", "maxItems", "anyOf", "propertyNames"}


class SchemaError(Exception):
    pass


def resolve(ref, root):
    if not ref.startswith("#/"):
        raise SchemaError(f"only local references are read: {ref}")
    node = root
    for part in ref[2:].split("/"):
        node = node[part]
    return node


def object_problems(value, schema, root, where):
    properties = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            yield f"{where}: '{name}' is missing"
    for name, member in value.items():
        if "propertyNames" in schema:
            yield from problems(name, schema["propertyNames"], root, f"{where} key")
        rule = properties.get(name, schema.get("additionalProperties", True))
        if rule is False:
            yield f"{where}: '{name}' is not described"
        elif rule is not True:
            yield from problems(member, rule, root, f"{where}.{name}")


def array_problems(value, schema, root, where):
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{where}: {len(value)} items"
    for index, item in enumerate(value):
        yield from problems(item, schema.get("items", {}), root, f"{where}[{index}]")


def problems(value, schema, root=None, where="$"):
    """Yields one line for each thing that is wrong."""
    root = schema if root is None else root
    unknown = set(schema) - KEYWORDS
    if unknown:
        raise SchemaError(f"keywords outside the subset: {sorted(unknown)}")
    if "$ref" in schema:
        yield from problems(value, resolve(schema["$ref"], root), root, where)
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(TYPES[t](value) for t in types):
        yield f"{where}: {value!r:.60} is no {' or '.join(types)}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{where}: {value!r:.60} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r:.60} is none of {schema['enum']}"
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        yield f"{where}: {value!r:.60} does not match {schema['pattern']}"
    if TYPES["number"](value) and not (schema.get("minimum", value) <= value
                                       <= schema.get("maximum", value)):
        yield f"{where}: {value} is out of range"
    if "anyOf" in schema and all(list(problems(value, s, root, where)) for s in schema["anyOf"]):
        yield f"{where}: {value!r:.60} fits no alternative"
    if isinstance(value, dict):
        yield from object_problems(value, schema, root, where)
    if isinstance(value, list):
        yield from array_problems(value, schema, root, where)
