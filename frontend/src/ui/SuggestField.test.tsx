import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { expect, test, vi } from "vitest";
import { SuggestField } from "./SuggestField";

const SUGGESTIONS = [
	{ value: "a/one", label: "one", note: "the first", group: "a" },
	{ value: "b/one", label: "one", group: "b" },
	{ value: "b/two", label: "two", group: "b" },
];

interface FieldProps {
	first: string;
	onChosen: (value: string) => void;
	onTyped: (text: string) => void;
}

function Field({ first, onChosen, onTyped }: FieldProps) {
	const [value, setValue] = useState(first);
	return (
		<SuggestField
			label="Model"
			value={value}
			suggestions={SUGGESTIONS}
			onTyped={(text) => {
				onTyped(text);
				setValue(text);
			}}
			onChosen={(one) => {
				onChosen(one.value);
				setValue(one.label);
			}}
			onEnd={() => {}}
		/>
	);
}

function show(first = "one") {
	const chosen = vi.fn();
	const typed = vi.fn();
	render(
		<MantineProvider env="test">
			<Field first={first} onChosen={chosen} onTyped={typed} />
		</MantineProvider>,
	);
	return { chosen, typed, field: screen.getByRole("combobox", { name: "Model" }) as HTMLInputElement };
}

test("opened, it shows everything, whatever stands in it", () => {
	const { field } = show();
	fireEvent.focus(field);
	expect(screen.getAllByRole("option").length).toBe(3);
});

test("typing narrows the list by every word, groups included, and counts as it stands", () => {
	const { field, typed } = show();
	fireEvent.focus(field);
	fireEvent.change(field, { target: { value: "b on" } });
	expect(screen.getAllByRole("option").map(({ textContent }) => textContent)).toEqual(["one"]);
	expect(typed).toHaveBeenCalledWith("b on");
});

test("choosing says which of two with the same name is meant", () => {
	const { field, chosen } = show("");
	fireEvent.focus(field);
	fireEvent.click(screen.getAllByRole("option", { name: /one/ })[1] as HTMLElement);
	expect(chosen).toHaveBeenCalledWith("b/one");
	expect(field.value).toBe("one");
});
