import { expect, it } from "vitest";
import { addStage, connect, updateStage } from "./commands";
import { createHistory } from "./history";
import { sample } from "./sample.testdata";

const add = (name: string) => (playbook: ReturnType<typeof sample>) =>
	addStage(playbook, { name, position: { x: 0, y: 0 } });
const prompt = (text: string) => (playbook: ReturnType<typeof sample>) =>
	updateStage(playbook, "triage", { systemPrompt: text });

it("undoes and redoes, and says what", () => {
	const history = createHistory(sample());
	const before = history.store.getState().document;
	history.edit("Add stage", add("One"));
	const after = history.store.getState().document;
	expect(history.undo()).toBe("Add stage");
	expect(history.store.getState().document).toBe(before);
	expect(history.redo()).toBe("Add stage");
	expect(history.store.getState().document).toBe(after);
	expect(history.redo()).toBeNull();
});

it("makes one step of the edits of one group", () => {
	const history = createHistory(sample());
	for (const text of ["a", "ab", "abc"]) history.edit("Edit prompt", prompt(text), { group: "prompt" });
	expect(history.store.getState().document.stages[1]?.systemPrompt).toBe("abc");
	history.undo();
	expect(history.store.getState().document).toEqual(sample());
	expect(history.undo()).toBeNull();
});

it("starts a new step after a pause, and with another group", () => {
	const history = createHistory(sample());
	history.edit("Edit prompt", prompt("a"), { group: "prompt" });
	history.settle();
	history.edit("Edit prompt", prompt("ab"), { group: "prompt" });
	history.edit("Connect", (playbook) => connect(playbook, "lookup", "farewell"));
	history.undo();
	expect(history.store.getState().document.stages[1]?.systemPrompt).toBe("ab");
	history.undo();
	expect(history.store.getState().document.stages[1]?.systemPrompt).toBe("a");
});

it("does not count a command that changed nothing", () => {
	const history = createHistory(sample());
	history.edit("Nothing", (playbook) => playbook);
	expect(history.undo()).toBeNull();
});

it("forgets everything when another document is loaded", () => {
	const history = createHistory(sample());
	history.edit("Add stage", add("One"));
	history.load({ ...sample(), name: "Other" });
	expect(history.undo()).toBeNull();
	expect(history.store.getState().document.name).toBe("Other");
});

it("drops what was undone when something else is done", () => {
	const history = createHistory(sample());
	history.edit("Add stage", add("One"));
	history.undo();
	history.edit("Edit prompt", prompt("x"), { group: "prompt" });
	expect(history.redo()).toBeNull();
});
