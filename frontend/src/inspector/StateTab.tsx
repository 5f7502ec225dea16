import { useMemo } from "react";
import { useStore } from "zustand";
import { endTitle } from "../playbook/labels";
import { ArtifactItem } from "./ArtifactItem";
import common from "./common.module.css";
import { stateAtCall } from "./facts";
import type { TabProps } from "./props";
import { FetchedText } from "./SegmentPane";
import tables from "./Tables.module.css";

function valueWords(value: unknown): string {
	const text = JSON.stringify(value) ?? "";
	return text.length > 500
		? `${text.slice(0, 500)}… (${text.length.toLocaleString("en-US")} characters)`
		: text;
}

/** Where the session stood when the call was sent, and how the model was told. */
export function StateTab({ live, sessionId, call, document, onStageSelected }: TabProps) {
	const events = useStore(live, (state) => state.events);
	const state = useMemo(() => stateAtCall(events, call.call), [events, call.call]);
	const told = call.segments?.filter((segment) => segment.kind === "state") ?? [];
	const frames = state.frames.toReversed();
	return (
		<div className={`${tables.scroll} ${tables.split}`}>
			<section>
				<h3>Variables</h3>
				{state.variables.size === 0 && <p className={common.quiet}>None.</p>}
				<table className={tables.table}>
					<tbody>
						{[...state.variables].map(([name, value]) => (
							<tr key={name}>
								<th scope="row">{name}</th>
								<td className={common.code}>{valueWords(value)}</td>
								<td className={common.quiet}>
									{state.changed.has(name) ? "changed since the call before" : ""}
								</td>
							</tr>
						))}
					</tbody>
				</table>
				<h3>Call stack</h3>
				<ol className={tables.plain}>
					{frames.map((frame, index) => (
						<li key={frame.id}>
							<button type="button" className={common.link} onClick={() => onStageSelected(frame.stage)}>
								{endTitle(document, frame.stage)}
							</button>{" "}
							<span className={common.quiet}>
								{frame.id}
								{index === 0 ? " · current" : ""}
							</span>
						</li>
					))}
				</ol>
				{state.artifacts.size > 0 && <h3>Artifacts</h3>}
				<ul className={tables.plain}>
					{[...state.artifacts.values()].map((artifact) => (
						<ArtifactItem key={artifact.name} artifact={artifact} sessionId={sessionId} />
					))}
				</ul>
			</section>
			<section>
				<h3>As the model was told</h3>
				{told.length === 0 && <p className={common.quiet}>The window has no state segment.</p>}
				{told.map((segment) => (
					<div key={segment.id}>
						<p className={common.quiet}>{segment.label}</p>
						<FetchedText sessionId={sessionId} segment={segment} />
					</div>
				))}
			</section>
		</div>
	);
}
