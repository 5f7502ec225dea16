import { beforeEach, expect, it } from "vitest";
import { createStore } from "zustand/vanilla";
import { NO_LIVE_GRAPH } from "../../api/live";
import { arrangeProblems } from "../../playbook/problems";
import { sample } from "../../playbook/sample.testdata";
import type { Stage } from "../../playbook/types";
import { createEditor, type Editor } from "../editor";
import { documentOf } from "../operations";
import { stagePart } from "./part";

const nothing = () => {};
let editor: Editor;
const stage = (): Stage => {
	const found = documentOf(editor).stages[1];
	if (!found) throw new Error("the sample has no second stage");
	return found;
};
const part = () => stagePart(editor, documentOf(editor), stage());

beforeEach(() => {
	const host = {
		openProperties: nothing,
		enterProperties: nothing,
		openTalk: nothing,
		inspectStage: nothing,
		saveNow: nothing,
		exportFile: nothing,
		exportAs: nothing,
		showVersions: nothing,
		closePanel: () => false,
	};
	editor = createEditor(
		sample(),
		createStore(() => NO_LIVE_GRAPH),
		host,
	);
});

it("typing in one field is one step, in the next field another", () => {
	part().typed({ systemPrompt: "F" });
	part().typed({ systemPrompt: "Fi" });
	part().typed({ name: "Sorting" });
	expect(editor.history.undo()).toBe("Edit stage: name");
	expect(editor.history.undo()).toBe("Edit stage: system prompt");
	expect(documentOf(editor)).toEqual(sample());
});

it("an object of the stage appears with its first field and vanishes with its last", () => {
	part().object("llmConfig").typed({ temperature: 0.2 });
	expect(stage().llmConfig).toEqual({ temperature: 0.2 });
	part().object("llmConfig").typed({ temperature: undefined });
	expect(stage()).toEqual(sample().stages[1]);
});

it("list entries are changed in their place, and fields nobody knows stay", () => {
	part().append("tools", { name: "pay", unheardOf: true } as never);
	part().append("tools", { name: "refund" });
	const [pay] = part().entries("tools");
	pay?.typed({ name: "charge" });
	expect(stage().tools).toEqual([{ name: "charge", unheardOf: true }, { name: "refund" }]);
	part().remove("tools", 0);
	part().remove("tools", 0);
	expect(stage().tools).toBeUndefined();
});

it("changes are made to the document as it is, not as it was when the form was drawn", () => {
	const drawn = part();
	drawn.typed({ name: "A" });
	drawn.typed({ systemPrompt: "B" });
	expect(stage()).toMatchObject({ name: "A", systemPrompt: "B" });
});

it("knows the problems of its fields", () => {
	const diagnostic = {
		code: "bad",
		severity: "error",
		message: "Too long.",
		path: "/stages/1/name",
	} as const;
	editor.ui.setState({ problems: arrangeProblems(documentOf(editor), [diagnostic]) });
	expect(part().error("name")).toBe("Too long.");
	expect(part().error("systemPrompt")).toBeUndefined();
});

it("tells a warning apart from an error", () => {
	const diagnostic = {
		code: "empty",
		severity: "warning",
		message: "No prompt.",
		path: "/stages/1/systemPrompt",
	} as const;
	editor.ui.setState({ problems: arrangeProblems(documentOf(editor), [diagnostic]) });
	expect(part().error("systemPrompt")).toMatchObject({
		props: { "data-severity": "warning", children: "No prompt." },
	});
});
