import { Autocomplete } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { refuseToolName } from "./accept";

interface ToolNameFieldProps {
	label: string;
	value: string;
	tools: readonly string[];
	onChange: (name: string) => void;
	onEnd: () => void;
	error?: ReactNode;
}

/** The name of a tool, with those that are there on offer. What cannot be a name yet stays in the field. */
export function ToolNameField({ label, value, tools, onChange, onEnd, error }: ToolNameFieldProps) {
	const [typed, setTyped] = useState<string | null>(null);
	const change = (text: string) => {
		const refused = refuseToolName(text) !== null;
		setTyped(refused ? text : null);
		if (!refused && text !== value) onChange(text);
	};
	return (
		<Autocomplete
			label={label}
			data={[...tools]}
			value={typed ?? value}
			error={typed === null ? (error ?? null) : refuseToolName(typed)}
			onChange={change}
			onBlur={onEnd}
		/>
	);
}
