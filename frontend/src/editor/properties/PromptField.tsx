import { ActionIcon, Group, Modal, Text, Textarea } from "@mantine/core";
import { type ReactNode, useId, useState } from "react";
import { estimateTokens } from "../../playbook/tokens";
import styles from "./properties.module.css";

interface PromptFieldProps {
	label: string;
	description?: string;
	value: string | null | undefined;
	onChange: (text: string) => void;
	onEnd: () => void;
	error?: ReactNode;
	placeholder?: string;
	rows?: number;
}

function Tokens({ text }: { text: string }) {
	return (
		<Text span size="xs" className={styles.tokens} title="Estimated; the inspector shows what was counted">
			~{estimateTokens(text)} tokens
		</Text>
	);
}

/** A prompt: grows with its text, counts its tokens, and opens large. */
export function PromptField({
	label,
	description,
	value,
	onChange,
	onEnd,
	error,
	placeholder,
	rows = 6,
}: PromptFieldProps) {
	const id = useId();
	const [large, setLarge] = useState(false);
	const text = value ?? "";
	const shared = {
		value: text,
		error: error ?? null,
		onBlur: onEnd,
		onChange: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
		...(placeholder ? { placeholder } : {}),
	};
	return (
		<div>
			<Group justify="space-between" gap="xs" mb={4} wrap="nowrap">
				<label htmlFor={id} className={styles.label}>
					{label}
				</label>
				<Group gap={4} wrap="nowrap">
					<Tokens text={text} />
					<ActionIcon
						variant="subtle"
						color="gray"
						size="sm"
						aria-label={`Edit ${label.toLowerCase()} in a large window`}
						title="Larger"
						onClick={() => setLarge(true)}
					>
						⤢
					</ActionIcon>
				</Group>
			</Group>
			<Textarea
				id={id}
				{...shared}
				{...(description ? { description } : {})}
				autosize
				minRows={rows}
				maxRows={18}
				inputWrapperOrder={["input", "description", "error"]}
			/>
			<Modal opened={large} onClose={() => setLarge(false)} title={label} size="80%">
				<Textarea
					aria-label={`${label}, large`}
					data-autofocus
					{...shared}
					autosize
					minRows={22}
					maxRows={28}
				/>
				<Tokens text={text} />
			</Modal>
		</div>
	);
}
