import { type ReactNode, useState } from "react";
import { TextField } from "./fields";

interface StrictFieldProps {
	label: string;
	/** The text of the value that is in force. */
	value: string;
	/** Why a text will not do, in words; null if it will. */
	refuse: (text: string) => string | null;
	/** Only called with a text that was not refused. */
	onChange: (text: string) => void;
	onEnd?: () => void;
	error?: ReactNode;
	description?: ReactNode;
	placeholder?: string;
	mono?: boolean;
	autoFocus?: boolean;
}

/**
 * A text that must have a certain form. What does not have it (yet) stays in the field with the reason, and the
 * document keeps the last one that had: it can be saved at every moment.
 */
export function StrictField({ value, refuse, onChange, onEnd, error, ...rest }: StrictFieldProps) {
	const [typed, setTyped] = useState<{ text: string; on: string } | null>(null);
	const text = typed?.on === value ? typed.text : value;
	const change = (next = "") => {
		const refused = refuse(next) !== null;
		setTyped(refused ? { text: next, on: value } : null);
		if (!refused) onChange(next);
	};
	return (
		<TextField
			{...rest}
			required
			value={text}
			error={refuse(text) ?? error}
			onChange={change}
			{...(onEnd ? { onEnd } : {})}
		/>
	);
}
