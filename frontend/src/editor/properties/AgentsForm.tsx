import { useEffect, useState } from "react";
import { findAgents, type NamedPlaybook } from "../../api/playbooks";
import type { Agent, Playbook } from "../../playbook/types";
import { TextField } from "../../ui/fields";
import { StrictField } from "../../ui/StrictField";
import { refuseEmpty, refusePlaybookId } from "./accept";
import type { Part } from "./part";
import styles from "./properties.module.css";
import { AddButton, Entry, Section } from "./Section";

const TYPING_MS = 400;

type Meant = Readonly<Record<string, NamedPlaybook>>;

/** The playbooks that the agents' ids mean now; null until the server has said so. */
function useMeant(playbook: Playbook): Meant | null {
	const [meant, setMeant] = useState<Meant | null>(null);
	const named = playbook.agents?.map((agent) => agent.playbook).join(" ") ?? "";
	// biome-ignore lint/correctness/useExhaustiveDependencies: only the ids that are named count
	useEffect(() => {
		if (!named) return;
		let left = false;
		const ask = () =>
			findAgents(playbook).then(
				({ playbooks }) => !left && setMeant(playbooks),
				() => {}, // without the server the ids stand alone
			);
		const timer = setTimeout(ask, meant === null ? 0 : TYPING_MS);
		return () => {
			left = true;
			clearTimeout(timer);
		};
	}, [named]);
	return meant;
}

function MeantPlaybook({ meant }: { meant: NamedPlaybook | undefined }) {
	if (!meant) return <>None of your playbooks has this id: a chat cannot begin.</>;
	return (
		<>
			This is{" "}
			<a className={styles.meant} href={`/playbooks/${meant.id}`}>
				{meant.name}
			</a>
			.
		</>
	);
}

interface AgentEntryProps {
	part: Part<Agent>;
	meant: Meant | null;
	remove: () => void;
}

function AgentEntry({ part, meant, remove }: AgentEntryProps) {
	const { value, settle } = part;
	return (
		<Entry name={`agent ${value.name}`} onRemove={remove}>
			<StrictField
				label="Name"
				refuse={refuseEmpty}
				value={value.name}
				error={part.error("name")}
				onEnd={settle}
				onChange={(name) => part.typed({ name })}
			/>
			<StrictField
				label="Id of its playbook"
				description={meant && <MeantPlaybook meant={meant[value.playbook]} />}
				refuse={refusePlaybookId}
				mono
				value={value.playbook}
				error={part.error("playbook")}
				onEnd={settle}
				onChange={(playbook) => part.typed({ playbook })}
			/>
			<TextField
				label="Description"
				rows={2}
				value={value.description}
				onEnd={settle}
				onChange={(description) => part.typed({ description })}
			/>
		</Entry>
	);
}

/** Other playbooks that this one may call, each with the one of the person's own that its id means. */
export function AgentsForm({ part }: { part: Part<Playbook> }) {
	const agents = part.value.agents ?? [];
	const meant = useMeant(part.value);
	return (
		<Section title="Agents it may call" summary={String(agents.length)}>
			{part.entries("agents").map((entry, index) => (
				<AgentEntry
					key={entry.pointer}
					part={entry as unknown as Part<Agent>}
					meant={meant}
					remove={() => part.remove("agents", index)}
				/>
			))}
			<AddButton
				onClick={() => part.append("agents", { name: `agent_${agents.length + 1}`, playbook: "playbook" })}
			>
				Agent
			</AddButton>
		</Section>
	);
}
