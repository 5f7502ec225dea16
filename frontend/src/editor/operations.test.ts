import { beforeEach, describe, expect, it } from "vitest";
import { createStore } from "zustand/vanilla";
import { NO_LIVE_GRAPH } from "../api/live";
import { sample } from "../playbook/sample.testdata";
import { ACTIONS, runAction } from "./actions";
import { createEditor, type Editor } from "./editor";
import * as operations from "./operations";

class Host {
	opened: string[] = [];
	openProperties = () => void this.opened.push("properties");
	enterProperties = () => void this.opened.push("in properties");
	openTalk = () => void this.opened.push("talk");
	inspectStage = (id: string) => void this.opened.push(`inspect ${id}`);
	saveNow = () => void this.opened.push("save");
	exportFile = () => void this.opened.push("export");
	exportAs = () => void this.opened.push("export as");
	showVersions = () => void this.opened.push("versions");
	closePanel = () => this.opened.push("close") > 0;
}

let host: Host;
let editor: Editor;
const said = () => editor.ui.getState().announcement;
const stages = () => operations.documentOf(editor).stages.map(({ id }) => id);

beforeEach(() => {
	host = new Host();
	editor = createEditor(
		sample(),
		createStore(() => NO_LIVE_GRAPH),
		host,
	);
});

describe("adding", () => {
	it("selects the new stage and says so", () => {
		operations.addStage(editor, { position: { x: 900, y: 400 } });
		expect(stages()).toContain("new-stage");
		expect(editor.ui.getState().selection.stageIds).toEqual(["new-stage"]);
		expect(said()).toBe("Stage New stage added.");
	});

	it("adds and connects in one step of undo", () => {
		operations.addStage(editor, { connectFrom: "greeting" });
		expect(operations.documentOf(editor).transitions).toHaveLength(5);
		operations.undo(editor);
		expect(operations.documentOf(editor)).toEqual(sample());
		expect(said()).toBe("Undone: Add and connect stage.");
		expect(editor.ui.getState().selection.stageIds).toEqual([]);
	});

	it("opens the properties where there is no card to type the name on", () => {
		operations.addStage(editor);
		expect(host.opened).toEqual(["properties"]);
	});
});

describe("the first name of a new stage", () => {
	it("makes its id; later names do not", () => {
		operations.addStage(editor);
		operations.nameStage(editor, "new-stage", "Billing");
		expect(stages()).toContain("billing");
		expect(editor.ui.getState().selection.stageIds).toEqual(["billing"]);
		operations.nameStage(editor, "billing", "Invoices");
		expect(stages()).toContain("billing");
	});

	it("is not taken from a name that was left as it was", () => {
		operations.addStage(editor);
		operations.nameStage(editor, "new-stage", null);
		operations.nameStage(editor, "new-stage", "Billing");
		expect(stages()).toContain("new-stage");
	});
});

describe("deleting", () => {
	it("takes the edges along, in one step", () => {
		operations.selectStage(editor, "triage");
		operations.deleteSelection(editor);
		expect(operations.documentOf(editor).transitions).toHaveLength(1);
		operations.undo(editor);
		expect(operations.documentOf(editor)).toEqual(sample());
	});

	it("refuses to take every stage, and says why", () => {
		operations.selectAll(editor);
		operations.deleteSelection(editor);
		expect(stages()).toHaveLength(4);
		expect(said()).toBe("A playbook keeps at least one stage.");
	});
});

describe("the clipboard", () => {
	it("carries stages as text", () => {
		operations.selectStage(editor, "triage");
		const text = operations.copyText(editor);
		expect(operations.pasteText(editor, text ?? "")).toBe(true);
		expect(stages()).toContain("triage-2");
		expect(operations.pasteText(editor, "something else")).toBe(false);
		expect(said()).toBe("The clipboard holds no stages.");
	});
});

it("nudges that follow one another are one step", () => {
	operations.selectStage(editor, "triage");
	for (let step = 0; step < 5; step++) runAction(editor, "move-ArrowDown-1");
	operations.undo(editor);
	expect(operations.documentOf(editor)).toEqual(sample());
});

it("Escape closes one thing at a time: menu, selection, panel", () => {
	operations.selectStage(editor, "triage");
	editor.ui.setState({ menu: { kind: "canvas", id: null, screen: { x: 0, y: 0 } } });
	runAction(editor, "escape");
	expect(editor.ui.getState().menu).toBeNull();
	expect(editor.ui.getState().selection.stageIds).toEqual(["triage"]);
	runAction(editor, "escape");
	expect(editor.ui.getState().selection.stageIds).toEqual([]);
	runAction(editor, "escape");
	expect(host.opened).toEqual(["close"]);
});

it("commands that need a selection do nothing without one", () => {
	for (const { id, when } of ACTIONS) if (when) runAction(editor, id);
	expect(operations.documentOf(editor)).toEqual(sample());
});

it("jumps to a transition: selects it and opens its properties", () => {
	operations.jumpTo(editor, { transitionId: "t-f" });
	expect(editor.ui.getState().selection.transitionIds).toEqual(["t-f"]);
	expect(editor.ui.getState().flash).toBe("t-f");
	expect(host.opened).toEqual(["properties"]);
});
