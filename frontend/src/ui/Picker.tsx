import { Modal, Text, TextInput } from "@mantine/core";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import styles from "./ui.module.css";

export interface PickerItem {
	readonly id: string;
	readonly label: string;
	readonly hint: string;
	readonly group: string;
	readonly run: () => void;
}

interface PickerProps {
	title: string;
	placeholder: string;
	items: readonly PickerItem[];
	/** What is offered for the typed text itself, below what was found. */
	more?: (query: string) => readonly PickerItem[];
	onClose: () => void;
}

const SHOWN = 60;

/** Every word of the query must occur; items whose label starts with it come first. */
export function matching(items: readonly PickerItem[], query: string): PickerItem[] {
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	const rank = ({ label, hint }: PickerItem): number => {
		const name = label.toLowerCase();
		const text = `${name} ${hint.toLowerCase()}`;
		if (!words.every((word) => text.includes(word))) return -1;
		if (name.startsWith(words.join(" "))) return 0;
		return words.every((word) => name.includes(word)) ? 1 : 2;
	};
	return items
		.map((item) => ({ item, rank: rank(item) }))
		.filter((entry) => entry.rank >= 0)
		.sort((a, b) => a.rank - b.rank)
		.slice(0, SHOWN)
		.map(({ item }) => item);
}

/** Type, arrow keys, Enter: the palette, and every question "which one?". */
export function Picker({ title, placeholder, items, more, onClose }: PickerProps) {
	const [query, setQuery] = useState("");
	const [index, setIndex] = useState(0);
	const list = useRef<HTMLDivElement>(null);
	const base = useId();
	const found = useMemo(() => {
		const typed = query.trim();
		return [...matching(items, query), ...(typed && more ? more(typed) : [])];
	}, [items, more, query]);
	const current = Math.min(index, found.length - 1);

	useEffect(() => {
		list.current?.querySelector(`[id="${base}-${current}"]`)?.scrollIntoView({ block: "nearest" });
	}, [base, current]);

	const run = (item: PickerItem | undefined) => {
		if (!item) return;
		onClose();
		item.run();
	};
	const onKeyDown = (event: KeyboardEvent) => {
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		if (step) {
			event.preventDefault();
			setIndex((current + step + found.length) % Math.max(1, found.length));
		} else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
			event.preventDefault();
			run(found[current]);
		}
	};

	return (
		<Modal opened onClose={onClose} title={title} size="lg" yOffset="12vh" centered={false}>
			<TextInput
				data-autofocus
				aria-label={title}
				placeholder={placeholder}
				value={query}
				role="combobox"
				aria-expanded="true"
				aria-controls={base}
				aria-activedescendant={found.length > 0 ? `${base}-${current}` : undefined}
				onChange={(event) => {
					setQuery(event.currentTarget.value);
					setIndex(0);
				}}
				onKeyDown={onKeyDown}
			/>
			<div ref={list} id={base} role="listbox" aria-label={title} className={styles.picker}>
				{found.map((item, position) => (
					// biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys of the list
					<div
						key={item.id}
						id={`${base}-${position}`}
						role="option"
						tabIndex={-1}
						aria-selected={position === current}
						className={styles.pick}
						onClick={() => run(item)}
						onMouseMove={() => setIndex(position)}
					>
						<span className={styles.pickLabel}>{item.label}</span>
						<span className={styles.pickHint}>{item.hint}</span>
						<span className={styles.pickGroup}>{item.group}</span>
					</div>
				))}
			</div>
			{found.length === 0 && (
				<Text size="sm" c="dimmed" role="status">
					Nothing is called “{query}”.
				</Text>
			)}
		</Modal>
	);
}
