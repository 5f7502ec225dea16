import { expect, it } from "vitest";
import { moveStages, removeSelection, renameStage, setInitialStage } from "./commands";
import { differences } from "./differences";
import { sample } from "./sample.testdata";

it("names what was added, changed and left out", () => {
	const without = removeSelection(sample(), { stageIds: [], transitionIds: ["g-t"] });
	const mine = setInitialStage(renameStage(without, "farewell", "Goodbye"), "triage");
	expect(differences(sample(), mine)).toEqual([
		"changed: stage Goodbye (name)",
		"not there: Greeting → Triage: model decides",
		"changed: playbook (initialStage)",
	]);
});

it("says once that stages stand elsewhere", () => {
	expect(differences(sample(), moveStages(sample(), { triage: { x: 1, y: 1 } }))).toEqual([
		"changed: places of stages",
	]);
	expect(differences(sample(), sample())).toEqual(["nothing"]);
});
