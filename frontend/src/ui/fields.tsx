/**
 * Form fields with one habit: an empty field is a field that is not set (`undefined`), and its placeholder says
 * what is then in force. `onEnd` is called when a field is left, so that typing becomes one step of undo.
 */
import { NumberInput, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import styles from "./ui.module.css";

interface FieldProps {
	label: string;
	description?: ReactNode;
	error?: ReactNode;
	onEnd?: (() => void) | undefined;
}
interface TextFieldProps extends FieldProps {
	value: string | null | undefined;
	onChange: (value: string | undefined) => void;
	placeholder?: string;
	mono?: boolean;
	/** Keep an empty text as "" instead of leaving the field out. */
	required?: boolean;
	rows?: number;
	/** Takes the focus when it appears, with its text selected so that typing replaces it. */
	autoFocus?: boolean;
}

function takeFocus(field: HTMLInputElement | HTMLTextAreaElement | null): void {
	field?.focus();
	field?.select();
}

/** Mantine reads `undefined` of an optional property as "not given"; null means no error. */
const orNull = (error: ReactNode) => error ?? null;

export function TextField({
	value,
	onChange,
	onEnd,
	error,
	mono = false,
	required = false,
	rows = 1,
	autoFocus = false,
	...rest
}: TextFieldProps) {
	const shared = {
		...rest,
		...(autoFocus ? { ref: takeFocus } : {}),
		value: value ?? "",
		error: orNull(error),
		onBlur: () => onEnd?.(),
		onChange: (event: { currentTarget: { value: string } }) => {
			const text = event.currentTarget.value;
			onChange(text === "" && !required ? undefined : text);
		},
		styles: mono ? { input: { fontFamily: "var(--ps-mono)", fontSize: 12 } } : {},
		spellCheck: !mono,
	};
	if (rows > 1) return <Textarea {...shared} autosize minRows={rows} maxRows={24} />;
	return <TextInput {...shared} />;
}

interface NumberFieldProps extends FieldProps {
	value: number | null | undefined;
	onChange: (value: number | undefined) => void;
	placeholder?: string;
	min?: number;
	max?: number;
	step?: number;
	decimals?: boolean;
	unit?: string;
	/** There is always a number: an empty field keeps the one before. */
	required?: boolean;
}

function isWithin(value: number, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY): boolean {
	return value >= min && value <= max;
}

export function NumberField({
	value,
	onChange,
	onEnd,
	error,
	decimals = false,
	unit,
	required = false,
	...rest
}: NumberFieldProps) {
	// What is on its way to being a number ("0.", "-", 0 where 1 is the least) stays in the field as it was typed.
	const [unfinished, setUnfinished] = useState<string | null>(null);
	return (
		<NumberInput
			{...rest}
			value={unfinished ?? value ?? ""}
			error={orNull(error)}
			allowDecimal={decimals}
			thousandSeparator={decimals ? false : " "}
			suffix={unit ? ` ${unit}` : ""}
			clampBehavior="blur"
			onBlur={() => {
				setUnfinished(null);
				onEnd?.();
			}}
			onChange={(next) => {
				const typing =
					typeof next === "string" ? next !== "" || required : !isWithin(next, rest.min, rest.max);
				setUnfinished(typing ? String(next) : null);
				if (!typing) onChange(typeof next === "number" ? next : undefined);
			}}
		/>
	);
}

export interface Option<T extends string> {
	readonly value: T;
	readonly label: string;
}
interface SelectFieldProps<T extends string> extends FieldProps {
	value: T | null | undefined;
	options: readonly Option<T>[];
	onChange: (value: T | undefined) => void;
	placeholder?: string;
	/** Offer to leave the field out. */
	clearable?: boolean;
	searchable?: boolean;
}

export function SelectField<T extends string>({
	value,
	options,
	onChange,
	onEnd,
	error,
	clearable = false,
	...rest
}: SelectFieldProps<T>) {
	return (
		<Select
			{...rest}
			value={value ?? null}
			data={options.map(({ value: key, label }) => ({ value: key as string, label }))}
			error={orNull(error)}
			clearable={clearable}
			allowDeselect={false}
			checkIconPosition="right"
			comboboxProps={{ withinPortal: true, shadow: "sm" }}
			onBlur={() => onEnd?.()}
			onChange={(next) => onChange(options.find((option) => option.value === next)?.value)}
		/>
	);
}

interface RangeFieldProps {
	label: string;
	value: number;
	min: number;
	max: number;
	step: number;
	onChange: (value: number) => void;
	/** The hand or the key is off it. */
	onEnd: () => void;
}

/** A number between two others, where about is good enough; it stands in the label. */
export function RangeField({ label, value, onChange, onEnd, ...rest }: RangeFieldProps) {
	return (
		<label className={styles.range}>
			<span>
				{label} {value}
			</span>
			<input
				{...rest}
				type="range"
				aria-label={label}
				value={value}
				onPointerUp={onEnd}
				onKeyUp={onEnd}
				onBlur={onEnd}
				onChange={(event) => onChange(Number(event.currentTarget.value))}
			/>
		</label>
	);
}

interface SwitchFieldProps extends FieldProps {
	value: boolean;
	onChange: (value: boolean) => void;
}

export function SwitchField({ value, onChange, onEnd, error, ...rest }: SwitchFieldProps) {
	return (
		<Switch
			{...rest}
			size="xs"
			checked={value}
			error={orNull(error)}
			onBlur={() => onEnd?.()}
			onChange={(event) => onChange(event.currentTarget.checked)}
		/>
	);
}

interface TagsFieldProps extends FieldProps {
	value: readonly string[] | null | undefined;
	onChange: (value: string[]) => void;
	placeholder?: string;
}

/** Several short texts. A comma ends one; what was typed is taken when the field is left. */
export function TagsField({ value, onChange, onEnd, error, ...rest }: TagsFieldProps) {
	return (
		<TagsInput
			{...rest}
			value={[...(value ?? [])]}
			error={orNull(error)}
			acceptValueOnBlur
			onBlur={() => onEnd?.()}
			onChange={onChange}
		/>
	);
}
