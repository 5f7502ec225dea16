import { useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import { agentOf } from "../playbook/labels";
import { Legend } from "./Legend";
import type { TabProps } from "./props";
import { SegmentBar } from "./SegmentBar";
import { SegmentList } from "./SegmentList";
import { SegmentPane } from "./SegmentPane";
import { WhyItMovedOn } from "./WhyItMovedOn";
import view from "./Window.module.css";
import { type Piece, pieces } from "./window";

/** What is open at first: the first segment that is new in this call. */
function firstNew(all: readonly Piece[], added: number): string | null {
	return all[Math.max(0, all.length - Math.max(1, added))]?.segment.id ?? null;
}

export function WindowTab(props: TabProps) {
	const { live, sessionId, call, document } = props;
	const all = useMemo(() => pieces(call), [call]);
	const [picked, setPicked] = useState<string | null>(null);
	const pane = useRef<HTMLElement>(null);
	const events = useStore(live, (state) => state.events);
	const selected = all.some((piece) => piece.segment.id === picked) ? picked : firstNew(all, call.added);
	const piece = all.find((one) => one.segment.id === selected);
	return (
		<div className={view.window}>
			<SegmentBar pieces={all} points={call.cachePoints} selected={selected} onSelected={setPicked} />
			<Legend call={call} pieces={all} />
			{call.error && <p className={view.error}>{call.error.message}</p>}
			<div className={view.columns}>
				<SegmentList
					pieces={all}
					document={document}
					agent={agentOf(call.lane)}
					selected={selected}
					onSelected={setPicked}
					onOpened={() => pane.current?.focus()}
				/>
				{piece && (
					<SegmentPane
						ref={pane}
						piece={piece}
						sessionId={sessionId}
						events={events}
						document={document}
						agent={agentOf(call.lane)}
					/>
				)}
				<WhyItMovedOn {...props} />
			</div>
		</div>
	);
}
