/** The artifacts of a session at one point of its log: what each is, and where its text stands. */

import type { EventOf, SessionEvent } from "../api/frames";
import { referred } from "../api/reference";

export interface Artifact {
	readonly name: string;
	readonly summary: string;
	readonly kind: string;
	/** Characters of its text. */
	readonly length: number;
	/** Of its content: what its text is asked for by. */
	readonly hash: string;
	/** The frame whose window has it, or a part of it. */
	readonly loadedIn: string | null;
}

export type Artifacts = ReadonlyMap<string, Artifact>;

const NONE: Artifacts = new Map();

/** The artifacts that a value takes along to another agent, or back. */
function handedOver(artifacts: Artifacts, value: unknown): Map<string, Artifact> {
	const entries = typeof value === "object" && value !== null ? Object.values(value) : [];
	const names = [value, ...entries].map(referred);
	const taken = new Map<string, Artifact>();
	for (const name of names) {
		const artifact = name === null ? undefined : artifacts.get(name);
		if (artifact) taken.set(artifact.name, { ...artifact, loadedIn: null });
	}
	return taken;
}

function moved(artifacts: Artifacts, name: string, loadedIn: string | null): Artifacts {
	const artifact = artifacts.get(name);
	return artifact ? new Map(artifacts).set(name, { ...artifact, loadedIn }) : artifacts;
}

/** An artifact that is named after a variable is gone when the variable holds something else. */
function afterChange(artifacts: Artifacts, event: EventOf<"state_changed">): Artifacts {
	const gone = Object.entries(event.set)
		.filter(([name, value]) => referred(value) !== name)
		.map(([name]) => name);
	const names = [...gone, ...event.deleted].filter((name) => artifacts.has(name));
	if (names.length === 0) return artifacts;
	return new Map([...artifacts].filter(([name]) => !names.includes(name)));
}

/** Follows the log, event by event. Each agent has artifacts of its own while it is open, as it has variables. */
export class ArtifactsSoFar {
	now: Artifacts = NONE;
	/** First frame of an open agent -> the artifacts of who called it. */
	readonly #callers = new Map<string, Artifacts>();
	/** What the last transition takes along. */
	#data: unknown = null;

	read(event: SessionEvent): void {
		switch (event.type) {
			case "artifact_saved": {
				const { name, summary, kind, length, hash } = event;
				this.now = new Map(this.now).set(name, { name, summary, kind, length, hash, loadedIn: null });
				break;
			}
			case "artifact_loaded":
				this.now = moved(this.now, event.name, event.frame);
				break;
			case "artifact_unloaded":
				this.now = moved(this.now, event.name, null);
				break;
			case "state_changed":
				this.now = afterChange(this.now, event);
				break;
			case "transition_triggered":
				this.#data = event.data;
				break;
			case "frame_pushed":
				if (!event.variables) break;
				this.#callers.set(event.frame, this.now);
				this.now = handedOver(this.now, this.#data);
				break;
			case "frame_popped": {
				const callers = this.#callers.get(event.frame);
				if (callers) this.now = new Map([...handedOver(this.now, event.value), ...callers]);
				break;
			}
		}
	}
}
