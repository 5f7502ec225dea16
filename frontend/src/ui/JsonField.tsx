import { Input, Loader } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { formatJson, type JsonProblem, parseJson } from "./json";

const CodeEditor = lazy(() => import("./CodeEditor"));

interface JsonFieldProps {
	/** Tells fields apart, so that text that is not JSON yet is found again when the panel comes back. */
	id: string;
	label: string;
	description?: string;
	value: unknown;
	/** Only called with a value that passed `accept`; `undefined` for an empty text. */
	onChange: (value: unknown) => void;
	onEnd?: () => void;
	/** Why a parsed value will not do, in words. */
	accept?: (value: unknown) => string | null;
	error?: ReactNode;
}

interface Draft {
	readonly text: string;
	/** The value that was in the document when this was typed. */
	readonly on: unknown;
}

/** Texts that are not valid yet, kept while their field is not on the screen. */
const drafts = new Map<string, Draft>();

function problemWords({ message, line, column }: JsonProblem): string {
	return `Line ${line}, column ${column}: ${message}`;
}

/** A JSON value as text. What does not parse stays in the field, and the document keeps the last good value. */
export function JsonField({ id, label, description, value, onChange, onEnd, accept, error }: JsonFieldProps) {
	const [typed, setTyped] = useState(() => {
		const draft = drafts.get(id);
		return draft && draft.on === value ? draft : null;
	});
	const shown = typed && stands(typed, value, accept) ? typed.text : formatJson(value);
	const parsed = parseJson(shown);
	const refused = parsed.ok ? (accept?.(parsed.value) ?? null) : problemWords(parsed.problem);
	const change = (text: string) => {
		if (text === shown) return;
		const next = parseJson(text);
		const draft = { text, on: value };
		setTyped(draft);
		if (next.ok && !accept?.(next.value)) {
			drafts.delete(id);
			onChange(next.value);
		} else drafts.set(id, draft);
	};
	return (
		<Input.Wrapper
			label={label}
			description={description}
			error={refused ?? error ?? null}
			labelElement="div"
		>
			<Suspense fallback={<Loader size="xs" />}>
				<CodeEditor
					label={label}
					text={shown}
					problem={parsed.ok ? null : parsed.problem}
					onChange={change}
					onEnd={onEnd}
				/>
			</Suspense>
		</Input.Wrapper>
	);
}

/** Typed text is shown as long as it says what the value is, or is not fit yet to change it. */
function stands({ text, on }: Draft, value: unknown, accept: JsonFieldProps["accept"]): boolean {
	const parsed = parseJson(text);
	if (!parsed.ok || accept?.(parsed.value)) return on === value;
	return JSON.stringify(parsed.value) === JSON.stringify(value ?? undefined);
}
