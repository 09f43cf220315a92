"""The schemas are sound themselves: valid, strict, with a word on each member, and of one mind."""

import unittest

from schema_documents import SCHEMAS  # ends this script, too, where there is no jsonschema

from jsonschema import Draft7Validator


def subschemas(schema, pointer=""):
    """Pointer and content of every schema within a schema, itself included."""
    if isinstance(schema, bool):
        return
    yield pointer, schema
    for keyword in ("properties", "patternProperties", "definitions"):
        for name, inner in schema.get(keyword, {}).items():
            yield from subschemas(inner, f"{pointer}/{keyword}/{name}")
    for keyword in ("items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"):
        if keyword in schema:
            yield from subschemas(schema[keyword], f"{pointer}/{keyword}")
    for keyword in ("anyOf", "allOf", "oneOf"):
        for number, inner in enumerate(schema.get(keyword, [])):
            yield from subschemas(inner, f"{pointer}/{keyword}/{number}")


class Schemas(unittest.TestCase):
    def test_are_valid_draft_7(self):
        known = set(Draft7Validator.META_SCHEMA["properties"])
        for name, schema in SCHEMAS.items():
            with self.subTest(name):
                self.assertEqual(schema["$schema"], "http://json-schema.org/draft-07/schema#")
                Draft7Validator.check_schema(schema)
                found = dict(subschemas(schema))
                for pointer, inner in found.items():
                    foreign = [word for word in inner if word not in known and not word.startswith("x-")]
                    self.assertEqual(foreign, [], f"{pointer}: no keywords of draft 7")
                    self.assertIn(inner.get("$ref", "#"), {f"#{place}" for place in found}, pointer)

    def test_say_what_each_member_is_and_take_no_other(self):
        for name, schema in SCHEMAS.items():
            found = dict(subschemas(schema))
            for pointer, inner in found.items():
                if inner.get("type") != "object" or "properties" not in inner:
                    continue
                with self.subTest(name, pointer=pointer):
                    self.assertIs(inner.get("additionalProperties"), False)
                    self.assertLessEqual(set(inner.get("required", [])), set(inner["properties"]))
                    for member, content in inner["properties"].items():
                        named = found[content.get("$ref", "#").removeprefix("#")]
                        described = "description" in content or "$ref" in content and "description" in named
                        self.assertTrue(described, member)

    def test_say_the_same_of_what_three_files_hold(self):
        provenance = SCHEMAS["checkpoint-state-1"]["properties"]["provenance"]
        for other in (SCHEMAS["environment-1"], SCHEMAS["export-report-1"]["properties"]["facts"]):
            self.assertLessEqual(set(provenance["required"]), set(other["required"]))
            for name, content in provenance["properties"].items():
                self.assertEqual(other["properties"][name], content)


if __name__ == "__main__":
    unittest.main()
