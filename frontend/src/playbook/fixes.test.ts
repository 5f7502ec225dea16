import { expect, it } from "vitest";
import { applyFix, canFix } from "./fixes";
import { sample } from "./sample.testdata";

const fix = (command: string, args: Record<string, unknown>) => ({ command, label: "Mend it", args });

it("does the repairs that the checks offer", () => {
	const connected = applyFix(sample(), fix("connect", { from: "greeting", target: "farewell" }));
	expect(connected.transitions?.at(-1)).toMatchObject({
		from: "greeting",
		action: { targetStage: "farewell" },
	});
	const ended = applyFix(sample(), fix("updateStage", { id: "triage", changes: { kind: "end" } }));
	expect(ended.stages[1]?.kind).toBe("end");
	expect(applyFix(sample(), fix("setInitialStage", { id: "triage" })).initialStage).toBe("triage");
	const renamed = applyFix(sample(), fix("changeStageId", { id: "triage", wanted: "sorting" }));
	expect(renamed.stages[1]?.id).toBe("sorting");
});

it("leaves the document alone for a repair it does not know", () => {
	const playbook = sample();
	for (const command of ["rewriteEverything", "constructor", "toString"]) {
		expect(canFix(fix(command, {}))).toBe(false);
		expect(applyFix(playbook, fix(command, {}))).toBe(playbook);
	}
});
