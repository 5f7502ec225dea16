import { expect, it } from "vitest";
import { arrangeProblems, type Diagnostic, placeOf, relatedPlaces } from "./problems";
import { sample } from "./sample.testdata";

const diagnostic = (changes: Partial<Diagnostic>): Diagnostic => ({
	code: "x",
	severity: "warning",
	message: "Something.",
	path: "",
	...changes,
});

it("finds the stage and the transition a pointer leads into", () => {
	expect(placeOf(sample(), "/stages/1/systemPrompt")).toEqual({ stageId: "triage" });
	expect(placeOf(sample(), "/transitions/0")).toEqual({ transitionId: "g-t" });
	expect(placeOf(sample(), "/stages/99")).toEqual({});
	expect(placeOf(sample(), "/initialStage")).toEqual({});
});

it("puts errors first and each on its stage or edge", () => {
	const problems = arrangeProblems(sample(), [
		diagnostic({ code: "advice", severity: "advice", path: "/stages/0" }),
		diagnostic({ code: "error", severity: "error", stage: "triage" }),
		diagnostic({ code: "edge", transition: "g-t", stage: "greeting" }),
	]);
	expect(problems.all.map(({ code }) => code)).toEqual(["error", "edge", "advice"]);
	expect([...problems.byStage.keys()]).toEqual(["triage", "greeting"]);
	expect([...problems.byTransition.keys()]).toEqual(["g-t"]);
});

it("tells the other places of a finding, each once and not the one it is shown at", () => {
	const related = ["/stages/1", "/stages/1/name", "/transitions/0/condition", "/stages/0", "/initialStage"];
	expect(relatedPlaces(sample(), diagnostic({ path: "/stages/0", related }))).toEqual([
		{ stageId: "triage" },
		{ transitionId: "g-t" },
	]);
});
