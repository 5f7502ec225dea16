import { Autocomplete, type ComboboxItem, type OptionsFilter } from "@mantine/core";
import { type ReactNode, useMemo, useState } from "react";
import styles from "./ui.module.css";

export interface Suggestion {
	/** What choosing it means; not what is shown. */
	readonly value: string;
	readonly label: string;
	readonly note?: string;
	readonly group: string;
}

interface SuggestFieldProps {
	label: string;
	placeholder?: string;
	description?: ReactNode;
	error?: ReactNode;
	value: string;
	suggestions: readonly Suggestion[];
	onTyped: (text: string) => void;
	onChosen: (suggestion: Suggestion) => void;
	onEnd: () => void;
	onOpen?: () => void;
}

function grouped(suggestions: readonly Suggestion[]) {
	const groups = new Map<string, string[]>();
	for (const { group, value } of suggestions) groups.set(group, [...(groups.get(group) ?? []), value]);
	return [...groups].map(([group, items]) => ({ group, items }));
}

/** Every word that was typed must occur in what is shown; before anything is typed all are shown. */
function filterBy(known: ReadonlyMap<string, Suggestion>, typed: boolean): OptionsFilter {
	return ({ options, search }) => {
		const words = typed ? search.toLowerCase().split(/\s+/).filter(Boolean) : [];
		const fits = (item: ComboboxItem) => {
			const one = known.get(item.value);
			const text = `${item.value} ${one?.label ?? ""} ${one?.group ?? ""}`.toLowerCase();
			return words.every((word) => text.includes(word));
		};
		return options
			.map((option) => ("group" in option ? { ...option, items: option.items.filter(fits) } : option))
			.filter((option) => !("group" in option) || option.items.length > 0);
	};
}

/** A text field with suggestions in groups. What is typed counts as it stands; a suggestion may mean more. */
export function SuggestField({
	value,
	suggestions,
	error,
	onTyped,
	onChosen,
	onEnd,
	onOpen,
	...rest
}: SuggestFieldProps) {
	const [typed, setTyped] = useState(false);
	const known = useMemo(() => new Map(suggestions.map((one) => [one.value, one])), [suggestions]);
	return (
		<Autocomplete
			{...rest}
			value={value}
			error={error ?? null}
			data={grouped(suggestions)}
			filter={filterBy(known, typed)}
			maxDropdownHeight={320}
			comboboxProps={{ withinPortal: true, shadow: "sm" }}
			renderOption={({ option }) => {
				const one = known.get(option.value);
				return (
					<span className={styles.suggestion}>
						<span className={styles.suggestionLabel}>{one?.label}</span>
						<span className={styles.pickHint}>{one?.note}</span>
					</span>
				);
			}}
			onFocus={() => {
				setTyped(false);
				onOpen?.();
			}}
			onChange={(text) => {
				const chosen = known.get(text);
				setTyped(!chosen);
				if (chosen) onChosen(chosen);
				else onTyped(text);
			}}
			onBlur={onEnd}
		/>
	);
}
