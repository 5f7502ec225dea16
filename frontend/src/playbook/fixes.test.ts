import { expect, it } from "vitest";
import { applyFix, canFix } from "./fixes";
import cases from "./fixes.cases.json";
import { sample } from "./sample.testdata";
import type { Playbook } from "./types";

const fix = (command: string, args: Record<string, unknown>) => ({ command, label: "Mend it", args });

it.each(cases)("$name", ({ document, command, args, result }) => {
	const before = JSON.stringify(document);
	const playbook = document as unknown as Playbook;
	expect(canFix(fix(command, args as Record<string, unknown>))).toBe(true);
	const mended = applyFix(playbook, fix(command, args as Record<string, unknown>));
	expect(JSON.parse(JSON.stringify(mended))).toEqual(result);
	expect(JSON.stringify(document)).toBe(before);
});

it("leaves the document alone for a repair it does not know", () => {
	const playbook = sample();
	for (const command of ["rewriteEverything", "constructor", "toString"]) {
		expect(canFix(fix(command, {}))).toBe(false);
		expect(applyFix(playbook, fix(command, {}))).toBe(playbook);
	}
});

it("changes nothing in a document that changed since the check", () => {
	const playbook = sample();
	const late = fix("replaceAt", { path: "/stages/0/systemPrompt", was: "Other words.", value: "x" });
	expect(applyFix(playbook, late)).toBe(playbook);
	const gone = fix("removeAt", { path: "/variables/0", was: { name: "total" } });
	expect(applyFix(playbook, gone)).toBe(playbook);
});
