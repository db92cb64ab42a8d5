"""Checks a document against as much of JSON Schema as docs/findings.schema.json uses. What it does not know, it refuses."""

import re

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "null": type(None)}
ASIDE = {"$schema", "$defs", "title", "description"}


def is_of(value, name):
    return isinstance(value, TYPES[name]) and not (name in ("integer", "number") and isinstance(value, bool))


def faults(value, schema, root=None, at="$"):
    """Where and how the value breaks the schema, as texts."""
    root = root or schema
    for word, rule in schema.items():
        if word == "$ref":
            target = root
            for part in rule.removeprefix("#/").split("/"):
                target = target[part]
            yield from faults(value, target, root, at)
        elif word == "type":
            names = rule if isinstance(rule, list) else [rule]
            if not any(is_of(value, name) for name in names):
                yield f"{at}: {value!r} is no {' or '.join(names)}"
        elif word == "const":
            if value != rule:
                yield f"{at}: {value!r} is not {rule!r}"
        elif word == "enum":
            if value not in rule:
                yield f"{at}: {value!r} is none of {rule}"
        elif word == "pattern":
            if isinstance(value, str) and not re.search(rule, value):
                yield f"{at}: {value!r} does not match {rule}"
        elif word in ("minimum", "minLength", "minItems", "maxItems"):
            size = value if word == "minimum" else len(value) if isinstance(value, (str, list)) else None
            if isinstance(size, (int, float)) and (size > rule if word == "maxItems" else size < rule):
                yield f"{at}: {word} {rule}"
        elif word == "required":
            if isinstance(value, dict):
                yield from (f"{at}: {name} is missing" for name in rule if name not in value)
        elif word == "properties":
            if isinstance(value, dict):
                for name, inner in rule.items():
                    if name in value:
                        yield from faults(value[name], inner, root, f"{at}.{name}")
        elif word == "additionalProperties":
            if isinstance(value, dict):
                yield from (f"{at}: {name} is not to be there" for name in value if name not in schema["properties"])
        elif word == "items":
            if isinstance(value, list):
                for i, one in enumerate(value):
                    yield from faults(one, rule, root, f"{at}[{i}]")
        elif word not in ASIDE:
            raise ValueError(f"{word} is not known here")
