import { type ReactNode, useState } from "react";
import { duration, parseDuration } from "../../playbook/duration";
import { TextField } from "../../ui/fields";

interface DurationFieldProps {
	label: string;
	/** Milliseconds. */
	value: number | null | undefined;
	onChange: (milliseconds: number | undefined) => void;
	onEnd?: () => void;
	error?: ReactNode;
	placeholder?: string;
	/** Milliseconds at most. */
	max?: number;
	/** Smallest time, in milliseconds. */
	min?: number;
	/** There is always a time: an empty field keeps the one before. */
	required?: boolean;
}

/** A time as a person writes it ("30 s", "5 min"; a bare number is seconds). Taken when the field is left. */
export function DurationField({
	label,
	value,
	onChange,
	onEnd,
	error,
	placeholder = "",
	max,
	min = 1,
	required = false,
}: DurationFieldProps) {
	const [typed, setTyped] = useState<string | null>(null);
	const written = value === null || value === undefined ? "" : duration(value);
	const parsed = typed === null ? null : parseDuration(typed);
	const unclear = typed !== null && typed.trim() !== "" && (parsed === null || parsed < min);
	const finish = () => {
		if (typed !== null && !unclear) {
			if (parsed !== null) onChange(Math.min(parsed, max ?? parsed));
			else if (!required) onChange(undefined);
		}
		if (!unclear) setTyped(null);
		onEnd?.();
	};
	return (
		<TextField
			label={label}
			placeholder={placeholder}
			value={typed ?? written}
			error={unclear ? "A time is needed, such as 30 s or 5 min." : error}
			onChange={(text) => setTyped(text ?? "")}
			onEnd={finish}
		/>
	);
}
