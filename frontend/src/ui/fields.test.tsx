import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { expect, it } from "vitest";
import { NumberField } from "./fields";

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
