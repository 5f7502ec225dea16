import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { expect, it, vi } from "vitest";
import { NumberField, RangeField, TextField } from "./fields";

function Field({ heard }: { heard: (number | undefined)[] }) {
	const [value, setValue] = useState<number | undefined>(1);
	const hear = (next: number | undefined) => {
		heard.push(next);
		setValue(next);
	};
	return (
		<MantineProvider env="test">
			<NumberField label="Temperature" value={value} onChange={hear} min={0} max={2} decimals />
		</MantineProvider>
	);
}

it("lets a decimal be typed key by key", () => {
	const heard: (number | undefined)[] = [];
	render(<Field heard={heard} />);
	const input = screen.getByLabelText<HTMLInputElement>("Temperature");
	for (const typed of ["0", "0.", "0.0", "0.05"]) {
		fireEvent.change(input, { target: { value: typed } });
		expect(input.value).toBe(typed);
	}
	expect(heard).toEqual([0, 0.05]);
});

it("shows the number that is kept once the field is left in the middle of a decimal", () => {
	const heard: (number | undefined)[] = [];
	render(<Field heard={heard} />);
	const input = screen.getByLabelText<HTMLInputElement>("Temperature");
	fireEvent.change(input, { target: { value: "0" } });
	fireEvent.change(input, { target: { value: "0." } });
	fireEvent.blur(input);
	expect(heard).toEqual([0]);
	expect(input.value).toBe("0");
});

it("a field that takes the focus has its text selected, so that typing replaces it", () => {
	render(
		<MantineProvider env="test">
			<TextField label="Name" autoFocus value="tool_1" onChange={() => {}} />
		</MantineProvider>,
	);
	const input = screen.getByLabelText<HTMLInputElement>("Name");
	expect(document.activeElement).toBe(input);
	expect([input.selectionStart, input.selectionEnd]).toEqual([0, 6]);
});

it("a range says its number and where a drag ends", () => {
	const onChange = vi.fn();
	const onEnd = vi.fn();
	render(
		<RangeField
			label="Confidence at least"
			min={0}
			max={1}
			step={0.05}
			value={0.6}
			onChange={onChange}
			onEnd={onEnd}
		/>,
	);
	const slider = screen.getByRole("slider", { name: "Confidence at least" });
	expect(screen.getByText("Confidence at least 0.6")).toBeTruthy();
	fireEvent.change(slider, { target: { value: "0.75" } });
	expect(onChange).toHaveBeenCalledWith(0.75);
	fireEvent.pointerUp(slider);
	expect(onEnd).toHaveBeenCalledTimes(1);
});
