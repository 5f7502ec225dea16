import { expect, it } from "vitest";
import { drawGraph, svgText } from "./drawing";
import { type Comparison, marksOf, withRemoved } from "./marks";
import { sample } from "./sample.testdata";
import type { Playbook } from "./types";

function parsed(text: string): Document {
	const document = new DOMParser().parseFromString(text, "image/svg+xml");
	expect(document.querySelector("parsererror")).toBeNull();
	return document;
}

const textsOf = (svg: Document) => [...svg.querySelectorAll("text")].map((node) => node.textContent);

it("draws every stage and every transition", () => {
	const svg = parsed(svgText(drawGraph(sample())));
	const texts = textsOf(svg);
	for (const name of ["⚑ Greeting", "Triage", "Look up order", "■ Farewell"]) expect(texts).toContain(name);
	expect(texts).toContain("model decides");
	expect(svg.querySelectorAll("path[marker-end]")).toHaveLength(4);
});

it("shows the whole graph in its view box", () => {
	const { attrs } = drawGraph(sample());
	const [x, y, width, height] = String(attrs.viewBox).split(" ").map(Number);
	expect(x).toBeLessThan(0);
	expect(y).toBeLessThan(0);
	expect(width).toBeGreaterThan(720 + 214);
	expect(height).toBeGreaterThan(200 + 84);
});

it("is a file that can be read, whatever the names are", () => {
	const stages = [{ id: "a", name: '<b>&"\u0001]]>', systemPrompt: "</svg><script>" }];
	const playbook: Playbook = { id: "x", name: "<&>", stages, initialStage: "a" };
	const svg = parsed(svgText(drawGraph(playbook)));
	expect(svg.querySelector("script")).toBeNull();
	expect(textsOf(svg)).toContain('⚑ <b>&"]]>');
});

it("marks what was added, removed and changed, by word as well as by colour", () => {
	const before = sample();
	const after: Playbook = {
		...before,
		stages: [...before.stages.slice(0, 3), { id: "survey", name: "Survey", systemPrompt: "" }],
		transitions: (before.transitions ?? []).slice(0, 3),
	};
	const change = (kind: string, what: string, id: string) => ({ kind, what, id, title: id, fields: [] });
	const changes = [
		change("added", "stage", "survey"),
		change("removed", "stage", "farewell"),
		change("changed", "stage", "greeting"),
		change("removed", "transition", "t-f"),
		{ ...change("added", "tool", "find"), stage: "triage" },
	] as unknown as Comparison["changes"];
	const both = withRemoved(before, after, { changes });
	expect(both.stages.map(({ id }) => id)).toContain("farewell");
	const marks = marksOf({ changes });
	expect([...marks.stages]).toEqual([
		["survey", "added"],
		["farewell", "removed"],
		["greeting", "changed"],
		["triage", "changed"],
	]);
	const texts = textsOf(parsed(svgText(drawGraph(both, { marks }))));
	expect(texts.filter((text) => text === "− removed")).toHaveLength(1);
	expect(texts.filter((text) => text === "~ changed")).toHaveLength(2);
	expect(texts).toContain("+ added");
	expect(texts.some((text) => text?.startsWith("− user says"))).toBe(true);
});
