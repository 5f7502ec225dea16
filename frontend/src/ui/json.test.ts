import { expect, it } from "vitest";
import { formatJson, parseJson } from "./json";

it("reads a value, and nothing as not set", () => {
	expect(parseJson('{"a": [1]}')).toEqual({ ok: true, value: { a: [1] } });
	expect(parseJson(" \n")).toEqual({ ok: true, value: undefined });
	expect(formatJson(null)).toBe("");
});

it("says at which line and column a text stops being JSON", () => {
	const parsed = parseJson('{\n  "a": 1,\n  b: 2\n}');
	expect(parsed.ok).toBe(false);
	if (!parsed.ok) expect(parsed.problem).toMatchObject({ line: 3, column: 3 });
});

it("points at the end of a text that is not finished", () => {
	const parsed = parseJson('{"a": ');
	if (parsed.ok) throw new Error("an unfinished text was read");
	expect(parsed.problem).toMatchObject({ line: 1, column: 7 });
});
