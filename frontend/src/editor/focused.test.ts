import { beforeEach, expect, it } from "vitest";
import { createStore } from "zustand/vanilla";
import { NO_LIVE_GRAPH } from "../api/live";
import { sample } from "../playbook/sample.testdata";
import { createEditor, type Editor } from "./editor";
import { selectFocused } from "./focused";
import { selectionOf } from "./operations";

const nothing = () => {};
let editor: Editor;
beforeEach(() => {
	const host = {
		openProperties: nothing,
		openTalk: nothing,
		inspectStage: nothing,
		saveNow: nothing,
		exportFile: nothing,
		closePanel: () => false,
	};
	editor = createEditor(
		sample(),
		createStore(() => NO_LIVE_GRAPH),
		host,
	);
});

function element(className: string, id: string): Element {
	const made = document.createElement("div");
	made.className = className;
	made.setAttribute("data-id", id);
	return made;
}

it("the stage that has the focus becomes what keys act on", () => {
	expect(selectFocused(editor, element("react-flow__node", "triage"))).toBe(true);
	expect(selectionOf(editor).stageIds).toEqual(["triage"]);
});

it("so does a transition, also by the edge of one of its callers", () => {
	selectFocused(editor, element("react-flow__edge", "l-r@triage"));
	expect(selectionOf(editor).transitionIds).toEqual(["l-r"]);
});

it("anything else is left alone", () => {
	expect(selectFocused(editor, element("react-flow__node", "any:triage"))).toBe(false);
	expect(selectFocused(editor, document.body)).toBe(false);
	expect(selectionOf(editor).stageIds).toEqual([]);
});
