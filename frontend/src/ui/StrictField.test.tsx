import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { expect, it } from "vitest";
import { StrictField } from "./StrictField";

function Form({ taken }: { taken: string[] }) {
	const [value, setValue] = useState("pay");
	const refuse = (text: string) => (/^\w+$/.test(text) ? null : "Letters only.");
	const change = (text: string) => {
		taken.push(text);
		setValue(text);
	};
	return (
		<MantineProvider env="test">
			<StrictField label="Name" value={value} refuse={refuse} onChange={change} />
		</MantineProvider>
	);
}

it("keeps a text that will not do in the field, says why, and hands on only what will", () => {
	const taken: string[] = [];
	render(<Form taken={taken} />);
	const field = screen.getByLabelText<HTMLInputElement>("Name");
	for (const value of ["", "re fund"]) {
		fireEvent.change(field, { target: { value } });
		expect(field.value).toBe(value);
		expect(screen.getByText("Letters only.")).toBeDefined();
	}
	fireEvent.change(field, { target: { value: "refund" } });
	expect(taken).toEqual(["refund"]);
	expect(screen.queryByText("Letters only.")).toBeNull();
});
