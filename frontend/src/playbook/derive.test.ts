import { expect, it } from "vitest";
import { connect, moveStages, updateStage } from "./commands";
import { createDeriver, deriveGraph } from "./derive";
import { sample } from "./sample.testdata";
import type { Transition } from "./types";

const rule = (changes: Partial<Transition>): Transition => ({
	id: "extra",
	from: "greeting",
	condition: { type: "llm_decision" },
	action: { targetStage: "triage" },
	...changes,
});
const withRule = (changes: Partial<Transition>) => {
	const playbook = sample();
	return { ...playbook, transitions: [...(playbook.transitions ?? []), rule(changes)] };
};

it("marks the start, the end and what is called", () => {
	const labels = deriveGraph(sample()).nodes.map(({ ariaLabel }) => ariaLabel);
	expect(labels).toEqual([
		"Stage Greeting (start)",
		"Stage Triage",
		"Stage Look up order (called)",
		"Stage Farewell (end)",
	]);
});

it("draws a return back to each caller", () => {
	const edges = deriveGraph(sample()).edges.filter(({ data }) => data.mode === "return");
	expect(edges.map(({ source, target }) => [source, target])).toEqual([["lookup", "triage"]]);
	const two = deriveGraph(
		withRule({ from: "farewell", action: { targetStage: "lookup", mode: "call" } }),
	).edges.filter(({ data }) => data.mode === "return");
	expect(two.map(({ id, target }) => [id, target])).toEqual([
		["l-r", "triage"],
		["l-r@farewell", "farewell"],
	]);
});

it("puts a sign where no stage stands", () => {
	const signs = (changes: Partial<Transition>) =>
		deriveGraph(withRule(changes)).nodes.flatMap(({ type, data }) => (type === "sign" ? [data] : []));
	expect(signs({ from: "*" })).toEqual([{ sign: "any", label: "any stage" }]);
	expect(signs({ action: { targetStage: "agent:billing", mode: "call" } })).toEqual([
		{ sign: "agent", label: "agent billing" },
	]);
	expect(signs({ action: { targetStage: "gone" } })).toEqual([
		{ sign: "missing", label: "missing stage ‘gone’" },
	]);
	expect(signs({ action: { mode: "return" } })).toEqual([{ sign: "returns", label: "returns" }]);
});

it("keeps the identity of what did not change", () => {
	const derive = createDeriver();
	const before = derive(sample());
	const edited = updateStage(sample(), "triage", { systemPrompt: "Another text." });
	const base = derive(edited);
	const moved = derive(moveStages(edited, { farewell: { x: 8, y: 8 } }));
	expect(base.nodes[1]).not.toBe(before.nodes[1]);
	expect(moved.nodes.map((node, index) => node === base.nodes[index])).toEqual([true, true, true, false]);
	expect(moved.edges).toBe(base.edges);
	const connected = derive(connect(edited, "greeting", "farewell"));
	expect(connected.edges.slice(0, 4)).toEqual(moved.edges);
	expect(connected.edges[0]).toBe(moved.edges[0]);
});
