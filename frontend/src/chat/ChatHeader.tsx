import { Button } from "@mantine/core";
import { useStore } from "zustand";
import type { CallFacts, LiveState } from "../api/liveState";
import type { LiveSessionStore } from "../api/session";
import type { Playbook } from "../playbook/types";
import styles from "./Chat.module.css";
import { modelName, REHEARSAL, versionWords } from "./names";
import { useOnlyRehearsal } from "./useModels";

interface ChatHeaderProps {
	live: LiveSessionStore;
	document: Playbook;
	onNewChat: () => void;
}

function lastFacts(state: LiveState): CallFacts | undefined {
	return state.facts.get(Math.max(0, ...state.facts.keys()));
}

export function ChatHeader({ live, document, onNewChat }: ChatHeaderProps) {
	const last = useStore(live, lastFacts);
	const version = useStore(live, (state) => versionWords(state.playbookVersion));
	const starting = useStore(live, (state) => state.starting);
	const onlyRehearsal = useOnlyRehearsal();
	const wanted = onlyRehearsal ? REHEARSAL : document.defaultLLMConfig?.model;
	const model = last ? modelName(last.provider, last.model) : wanted;
	return (
		<header className={styles.header}>
			<h2 className={styles.title}>Test chat</h2>
			{model && (
				<span className={styles.model} title="What answers in this chat">
					{model}
				</span>
			)}
			{version && (
				<span className={styles.version} title={`This chat runs ${version}`}>
					{version}
				</span>
			)}
			<Button
				variant="default"
				size="compact-sm"
				fw={500}
				className={styles.newChat}
				loading={starting}
				onClick={onNewChat}
			>
				New chat
			</Button>
		</header>
	);
}
