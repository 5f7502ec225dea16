import { beforeEach, expect, it } from "vitest";
import { createStore } from "zustand/vanilla";
import { NO_LIVE_GRAPH } from "../api/live";
import { sample } from "../playbook/sample.testdata";
import { createEditor, type Editor } from "./editor";
import { followFocus, selectFocused } from "./focused";
import { deleteSelection, documentOf, selectAll, selectionOf, selectStage } from "./operations";

const nothing = () => {};
let editor: Editor;
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

it("a transition that the focus was moved to is what is deleted, not the stage selected before", () => {
	selectStage(editor, "triage");
	followFocus(editor, element("react-flow__edge", "l-r"));
	deleteSelection(editor);
	expect(documentOf(editor).stages.some(({ id }) => id === "triage")).toBe(true);
	expect(documentOf(editor).transitions?.some(({ id }) => id === "l-r")).toBe(false);
});

it("the focus on one of several that are selected leaves them selected", () => {
	selectAll(editor);
	const before = selectionOf(editor);
	followFocus(editor, element("react-flow__node", "triage"));
	expect(selectionOf(editor)).toEqual(before);
});

it("the focus on what can't be selected leaves nothing selected that a key could delete", () => {
	selectStage(editor, "triage");
	followFocus(editor, element("react-flow__node", "any:triage"));
	expect(selectionOf(editor)).toEqual({ stageIds: [], transitionIds: [] });
});

it("the focus elsewhere on the page leaves the selection as it is", () => {
	selectStage(editor, "triage");
	followFocus(editor, document.createElement("button"));
	expect(selectionOf(editor).stageIds).toEqual(["triage"]);
});
