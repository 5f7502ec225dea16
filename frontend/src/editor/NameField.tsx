import { type RefObject, useEffect, useRef, useState } from "react";
import styles from "./graph.module.css";

interface NameFieldProps {
	label: string;
	value: string;
	/** The new name, or null if it was left as it was. */
	onDone: (name: string | null) => void;
}

const FRAMES = 30;

/** React Flow hides a new stage until it has measured it, and what is hidden takes no focus: tried until it does. */
function takeFocus(field: RefObject<HTMLInputElement | null>): () => void {
	let frame = 0;
	const attempt = (left: number) => {
		field.current?.focus({ preventScroll: true });
		field.current?.select();
		if (document.activeElement !== field.current && left > 0) {
			frame = requestAnimationFrame(() => attempt(left - 1));
		}
	};
	attempt(FRAMES);
	return () => cancelAnimationFrame(frame);
}

/** A name being typed in its place: Enter or leaving the field takes it, Escape does not. */
export function NameField({ label, value, onDone }: NameFieldProps) {
	const [name, setName] = useState(value);
	const field = useRef<HTMLInputElement>(null);
	const finished = useRef(false);
	useEffect(() => takeFocus(field), []);
	const finish = (take: boolean) => {
		if (finished.current) return;
		finished.current = true;
		const trimmed = name.trim();
		onDone(take && trimmed !== "" && trimmed !== value ? trimmed : null);
	};
	return (
		<input
			ref={field}
			className={`${styles.nameField} nodrag nopan`}
			aria-label={label}
			value={name}
			maxLength={200}
			onChange={(event) => setName(event.currentTarget.value)}
			onBlur={() => finish(true)}
			onKeyDown={(event) => {
				event.stopPropagation();
				if (event.key === "Enter" && !event.nativeEvent.isComposing) finish(true);
				if (event.key === "Escape") finish(false);
			}}
		/>
	);
}
