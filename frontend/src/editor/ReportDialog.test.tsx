import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { createLiveSession } from "../api/session";
import { sample } from "../playbook/sample.testdata";
import { createEditor, EditorProvider } from "./editor";
import { ReportDialog } from "./ReportDialog";

const GREETING = { id: "greeting", name: "Greeting" };
const TRIAGE = { id: "triage", name: "Triage" };
const REPORT = {
	stages: 4,
	transitions: 4,
	switchedOff: 1,
	conditions: { llm_decision: 4 },
	ends: [{ id: "farewell", name: "Farewell" }],
	unreachable: [{ id: "lookup", name: "Look up order" }],
	shortest: [
		{ stage: GREETING, transition: null, condition: null },
		{ stage: TRIAGE, transition: "g-t", condition: "llm_decision" },
	],
	gates: [{ stage: TRIAGE, behind: 2, always: true }],
	traps: [],
	loops: 0,
	diagnostics: [],
};

function opened(answer: Response) {
	vi.stubGlobal("fetch", vi.fn().mockResolvedValue(answer));
	const nothing = () => {};
	const host = {
		openProperties: vi.fn(),
		enterProperties: nothing,
		openTalk: nothing,
		inspectStage: nothing,
		saveNow: nothing,
		exportFile: nothing,
		exportAs: nothing,
		showVersions: nothing,
		closePanel: () => false,
	};
	const editor = createEditor(sample(), createLiveSession(), host);
	const close = vi.fn();
	render(
		<MantineProvider>
			<EditorProvider value={editor}>
				<ReportDialog onClose={close} />
			</EditorProvider>
		</MantineProvider>,
	);
	return { editor, close };
}

test("a stage of the report is shown on the graph when it is clicked", async () => {
	const { editor, close } = opened(Response.json(REPORT));
	expect(await screen.findByText(/4 transitions, 1 more switched off/)).toBeTruthy();
	expect(screen.getByText("every conversation that ends; the only way to 2 other stages")).toBeTruthy();
	fireEvent.click(screen.getByRole("button", { name: "Look up order" }));
	expect(close).toHaveBeenCalled();
	expect(editor.ui.getState().selection.stageIds).toEqual(["lookup"]);
});

test("a report that cannot be made says why", async () => {
	const error = { code: "x", message: "The server is busy.", path: "", details: [] };
	opened(Response.json({ error }, { status: 503 }));
	expect((await screen.findByRole("alert")).textContent).toContain("The server is busy.");
});
