import { Button, Textarea } from "@mantine/core";
import { type KeyboardEvent, type Ref, useEffect, useImperativeHandle, useRef, useState } from "react";
import { useStore } from "zustand";
import type { LiveSessionStore } from "../api/session";
import styles from "./Chat.module.css";
import { rememberTyped, typedText } from "./remember";
import { useRecall } from "./useRecall";

export interface ComposerHandle {
	focus(): void;
	/** Puts text before what is being typed. */
	prepend(text: string): void;
}

interface ComposerProps {
	ref: Ref<ComposerHandle>;
	live: LiveSessionStore;
	playbookId: string;
	/** Sends; gives why not, in words. */
	onSend: (text: string) => string | null;
	onNewChat: () => void;
}

export function Composer({ ref, live, playbookId, onSend, onNewChat }: ComposerProps) {
	const field = useRef<HTMLTextAreaElement>(null);
	const [text, setText] = useState(() => typedText(playbookId));
	const [problem, setProblem] = useState<string | null>(null);
	const running = useStore(live, (state) => state.activity !== null);
	const ended = useStore(live, (state) => state.complete);
	const stop = useStore(live, (state) => state.stop);
	const recall = useRecall(live);

	const type = (next: string) => {
		setText(next);
		setProblem(null);
		rememberTyped(playbookId, next);
	};

	useImperativeHandle(ref, () => ({
		focus: () => field.current?.focus(),
		prepend: (more) => {
			if (more) type(text ? `${more}\n${text}` : more);
			field.current?.focus();
		},
	}));

	useEffect(() => field.current?.focus(), []);

	const submit = () => {
		if (text.trim() === "") return;
		const refused = onSend(text);
		if (refused) {
			setProblem(refused);
			return;
		}
		recall.reset();
		type("");
	};

	const recalled = (event: KeyboardEvent<HTMLTextAreaElement>) => {
		const older = event.key === "ArrowUp" ? recall.older(event.currentTarget) : null;
		const found = event.key === "ArrowDown" ? recall.newer(event.currentTarget) : older;
		if (found === null) return;
		event.preventDefault();
		type(found);
	};

	const keyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
		if (event.nativeEvent.isComposing) return;
		if (event.key === "Enter" && !event.shiftKey) {
			event.preventDefault();
			submit();
		} else recalled(event);
	};

	return (
		<form
			className={styles.composer}
			onSubmit={(event) => {
				event.preventDefault();
				submit();
			}}
		>
			<Textarea
				ref={field}
				className={styles.field}
				aria-label="Message"
				placeholder={ended ? "This conversation is complete" : "Write as the user…"}
				dir="auto"
				autosize
				minRows={1}
				maxRows={8}
				value={text}
				error={problem}
				onChange={(event) => type(event.currentTarget.value)}
				onKeyDown={keyDown}
			/>
			{running && (
				<Button variant="default" onClick={stop} leftSection={<span aria-hidden="true">■</span>} px="sm">
					Stop
				</Button>
			)}
			{ended ? (
				<Button px="sm" onClick={onNewChat}>
					New chat
				</Button>
			) : (
				<Button type="submit" px="sm">
					Send
				</Button>
			)}
		</form>
	);
}
