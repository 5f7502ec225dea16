import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { matching, Picker, type PickerItem } from "./Picker";

const item = (label: string, hint = "", run = () => {}): PickerItem => ({
	id: label,
	label,
	hint,
	group: "Stages",
	run,
});

it("puts names that start with the query first, then names, then hints", () => {
	const items = [item("Farewell", "thank for the refund"), item("Check refund"), item("Refund")];
	expect(matching(items, "refund").map(({ label }) => label)).toEqual(["Refund", "Check refund", "Farewell"]);
	expect(matching(items, "nothing")).toEqual([]);
});

it("is worked with the arrow keys and Enter", () => {
	const chosen: string[] = [];
	const items = ["Greeting", "Triage"].map((label) => item(label, "", () => chosen.push(label)));
	render(
		<MantineProvider env="test">
			<Picker title="Find" placeholder="" items={items} onClose={() => chosen.push("closed")} />
		</MantineProvider>,
	);
	const field = screen.getByRole("combobox", { name: "Find" });
	fireEvent.keyDown(field, { key: "ArrowDown" });
	expect(screen.getByRole("option", { selected: true }).textContent).toContain("Triage");
	fireEvent.keyDown(field, { key: "Enter" });
	expect(chosen).toEqual(["closed", "Triage"]);
});
