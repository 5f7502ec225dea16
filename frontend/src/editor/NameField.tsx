import { useEffect, useRef, useState } from "react";
import styles from "./graph.module.css";
import { takeFocus } from "./takeFocus";

/** How a name field was left: a key leaves the focus to nobody, a blur has given it to somebody else. */
export type Leaving = "key" | "blur";

interface NameFieldProps {
	label: string;
	value: string;
	/** The new name, or null if it was left as it was. */
	onDone: (name: string | null, leaving: Leaving) => void;
}

/** A name being typed in its place: Enter or leaving the field takes it, Escape does not. */
export function NameField({ label, value, onDone }: NameFieldProps) {
	const [name, setName] = useState(value);
	const field = useRef<HTMLInputElement>(null);
	const finished = useRef(false);
	useEffect(
		() =>
			takeFocus(
				() => field.current,
				() => field.current?.select(),
			),
		[],
	);
	const finish = (take: boolean, leaving: Leaving) => {
		if (finished.current) return;
		finished.current = true;
		const trimmed = name.trim();
		onDone(take && trimmed !== "" && trimmed !== value ? trimmed : null, leaving);
	};
	return (
		<input
			ref={field}
			className={`${styles.nameField} nodrag nopan`}
			aria-label={label}
			value={name}
			maxLength={200}
			onChange={(event) => setName(event.currentTarget.value)}
			onBlur={() => finish(true, "blur")}
			onKeyDown={(event) => {
				event.stopPropagation();
				if (event.key === "Enter" && !event.nativeEvent.isComposing) finish(true, "key");
				if (event.key === "Escape") finish(false, "key");
			}}
		/>
	);
}
