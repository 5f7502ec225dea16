import { TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { useEditor } from "../../editor/editor";
import styles from "./workbench.module.css";

/** The playbook's name, edited where it stands. An empty name is not taken. */
export function NameInPlace({ name }: { name: string }) {
	const editor = useEditor();
	const [typed, setTyped] = useState(name);
	useEffect(() => setTyped(name), [name]);
	const finish = () => {
		const trimmed = typed.trim();
		if (trimmed === "") setTyped(name);
		else if (trimmed !== name)
			editor.history.edit("Rename playbook", (playbook) => ({ ...playbook, name: trimmed }));
	};
	return (
		<TextInput
			className={styles.nameField}
			classNames={{ input: styles.nameInput ?? "" }}
			style={{ "--name-width": `${Math.min(32, Math.max(6, typed.length + 2))}ch` }}
			size="xs"
			aria-label="Name of the playbook"
			value={typed}
			onChange={(event) => setTyped(event.currentTarget.value)}
			onBlur={finish}
			onKeyDown={(event) => {
				if (event.key === "Enter") event.currentTarget.blur();
				if (event.key === "Escape") setTyped(name);
			}}
		/>
	);
}
