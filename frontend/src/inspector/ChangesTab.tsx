import type { ReactNode } from "react";
import type { Segment } from "../api/frames";
import { grouped, plural } from "../ui/format";
import common from "./common.module.css";
import type { TabProps } from "./props";
import { FetchedText } from "./SegmentPane";
import tables from "./Tables.module.css";
import { useCallWindow } from "./useCallWindow";
import { changes, KIND_NAMES } from "./window";

interface PartProps {
	title: string;
	sign: string;
	segments: readonly Segment[];
	sessionId: string;
}

function Part({ title, sign, segments, sessionId }: PartProps) {
	if (segments.length === 0) return null;
	return (
		<section>
			<h3>{title}</h3>
			{segments.map((segment) => (
				<details key={segment.id} className={tables.change}>
					<summary>
						<span className={tables.sign}>{sign}</span>
						<span className={common.kind}>{KIND_NAMES[segment.kind]}</span>
						<span className={common.label}>{segment.label}</span>
						<span className={common.number}>{grouped(segment.tokens)}</span>
					</summary>
					<FetchedText sessionId={sessionId} segment={segment} />
				</details>
			))}
		</section>
	);
}

function Broken({ segment, children }: { segment: Segment | null; children: ReactNode }) {
	return (
		<p className={tables.change}>
			{segment ? (
				<>
					The first difference is <strong>{KIND_NAMES[segment.kind]}</strong> {segment.label}, after{" "}
					{grouped(segment.start)} tokens: from there on nothing could be read from the cache.
				</>
			) : (
				children
			)}
		</p>
	);
}

/** What this window has that the one before it in its lane had not. */
export function ChangesTab({ live, sessionId, call, onCallSelected }: TabProps) {
	const { call: before, problem } = useCallWindow(live, call.previousCall);
	if (call.previousCall === null) {
		return (
			<p className={common.loading}>
				This is the first call of its lane: all {plural(call.segments?.length ?? 0, "segment")} are new.
			</p>
		);
	}
	if (!before?.segments) return <p className={common.loading}>{problem ?? "Loading the call before…"}</p>;
	const { kept, keptTokens, added, removed, firstDifference } = changes(before.segments, call.segments ?? []);
	return (
		<div className={tables.scroll}>
			<p className={tables.change}>
				Compared with{" "}
				<button type="button" className={common.link} onClick={() => onCallSelected(before.call)}>
					call {before.call}
				</button>
				: {plural(kept, "segment")} ({grouped(keptTokens)} tokens) at the start are the same, byte for byte.
			</p>
			<Broken segment={firstDifference}>Nothing of the window before was changed; only its end grew.</Broken>
			<Part title="Added" sign="+" segments={added} sessionId={sessionId} />
			<Part title="Gone" sign="−" segments={removed} sessionId={sessionId} />
			{added.length + removed.length === 0 && <p className={common.quiet}>The same window was sent again.</p>}
		</div>
	);
}
