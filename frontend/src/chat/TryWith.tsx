/** Which model answers in this chat, and the menu to try it with another one; the playbook stays as it is. */
import { useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import {
	allChoices,
	askForModels,
	CONNECTIONS_PAGE,
	loadChoices,
	type ModelChoices,
	modelChoices,
} from "../api/connections";
import { Picker, type PickerItem } from "../ui/Picker";
import styles from "./Chat.module.css";
import { REHEARSAL } from "./names";

interface TryWithProps {
	/** What answers now, in words; empty while that is not known. */
	model: string;
	/** What the playbook itself would have, in words. */
	playbookSays: string;
	/** `CONNECTION/MODEL` or `rehearsal`, if this chat is tried with another model than the playbook's. */
	using: string | null;
	onUse: (model: string | null) => void;
}

type Choose = (model: string | null) => () => void;

function modelItems(choices: ModelChoices, choose: Choose): PickerItem[] {
	return allChoices(choices)
		.filter(({ available }) => available)
		.map(({ id, connection, model, label }) => ({
			id,
			label: model,
			hint: label === model ? "" : label,
			group: connection,
			run: choose(id),
		}));
}

/** The typed text as a model of each connection, for those that no list has. */
function typedItems({ connections }: ModelChoices, query: string, choose: Choose): PickerItem[] {
	return connections
		.filter(({ usable }) => usable)
		.map(({ name }) => ({
			id: `typed ${name}`,
			label: query,
			hint: "as it is typed",
			group: name,
			run: choose(`${name}/${query}`),
		}));
}

export function TryWith({ model, playbookSays, using, onUse }: TryWithProps) {
	const [open, setOpen] = useState(false);
	const choices = useStore(modelChoices);
	useEffect(() => void loadChoices(), []);
	const choose: Choose = (next) => () => onUse(next);
	const items = useMemo<PickerItem[]>(
		() => [
			{ id: "", label: "As the playbook says", hint: playbookSays, group: "", run: () => onUse(null) },
			{
				id: "rehearsal",
				label: "Rehearsal (no model)",
				hint: "fixed rules, free and offline",
				group: "",
				run: () => onUse("rehearsal"),
			},
			...modelItems(choices, (next) => () => onUse(next)),
			{
				id: "connections",
				label: "Connections…",
				hint: "other models: set up and test",
				group: "",
				run: () => void window.open(CONNECTIONS_PAGE, "_blank", "noreferrer"),
			},
		],
		[choices, playbookSays, onUse],
	);
	const show = () => {
		setOpen(true);
		void loadChoices().then(askForModels);
	};
	return (
		<>
			<button
				type="button"
				className={styles.model}
				data-tried={using !== null}
				aria-label={`${model || "Model"}${using ? ", in this chat only" : ""}. Try with another model`}
				title={
					using
						? `In this chat only; the playbook says ${playbookSays || REHEARSAL}`
						: "Try with another model"
				}
				onClick={show}
			>
				<span className={styles.modelName}>{model || "model"}</span> <span aria-hidden="true">▾</span>
			</button>
			{open && (
				<Picker
					title="Try with…"
					placeholder="Search, or type a model’s id"
					items={items}
					more={(query) => typedItems(choices, query, choose)}
					onClose={() => setOpen(false)}
				/>
			)}
		</>
	);
}
