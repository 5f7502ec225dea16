import { Button, Popover, Text } from "@mantine/core";
import { useRef, useState } from "react";
import { endTitle, transitionTitle } from "../playbook/labels";
import { type Diagnostic, type Place, placeOfDiagnostic, relatedPlaces } from "../playbook/problems";
import type { Playbook } from "../playbook/types";
import { runAction } from "./actions";
import { useDocument, useEditor, useUi } from "./editor";
import { FixButton } from "./FixButton";
import { jumpTo } from "./operations";
import styles from "./problems.module.css";

const SIGN = { error: "▲", warning: "▲", advice: "·" } as const;

const SHOWN_RELATED = 6;

function whereabouts(playbook: Playbook, { stageId, transitionId }: Place): string {
	const transition = playbook.transitions?.find(({ id }) => id === transitionId);
	if (transition) return transitionTitle(playbook, transition);
	return stageId ? endTitle(playbook, stageId) : "Playbook";
}

/** The other places that have a part in it, each to be jumped to. */
function Related({ problem, jump }: { problem: Diagnostic; jump: (place: Place) => void }) {
	const playbook = useDocument();
	const places = relatedPlaces(playbook, problem);
	if (places.length === 0) return null;
	const more = places.length - SHOWN_RELATED;
	return (
		<span className={styles.related}>
			{places.slice(0, SHOWN_RELATED).map((place) => (
				<button
					key={`${place.stageId} ${place.transitionId}`}
					type="button"
					className={styles.place}
					onClick={() => jump(place)}
				>
					{whereabouts(playbook, place)}
				</button>
			))}
			{more > 0 && `and ${more} more`}
		</span>
	);
}

function summary(problems: readonly Diagnostic[]): string {
	const count = problems.filter(({ severity }) => severity !== "advice").length;
	if (count === 0) return "No problems";
	return count === 1 ? "1 problem" : `${count} problems`;
}

/** The number of problems, and the list they can be jumped to from. */
export function ProblemsList() {
	const editor = useEditor();
	const playbook = useDocument();
	const problems = useUi((ui) => ui.problems.all);
	const [opened, setOpened] = useState(false);
	const box = useRef<HTMLDivElement>(null);
	const worst = problems[0]?.severity;
	const jump = (place: Place) => {
		setOpened(false);
		jumpTo(editor, place);
	};
	const report = () => {
		setOpened(false);
		runAction(editor, "report");
	};
	return (
		<Popover
			opened={opened}
			onChange={setOpened}
			width={420}
			position="bottom-end"
			shadow="sm"
			trapFocus
			returnFocus
		>
			<Popover.Target>
				<Button
					variant="default"
					size="xs"
					className={styles.button}
					data-severity={worst}
					onClick={() => setOpened(!opened)}
				>
					{worst && worst !== "advice" ? `▲ ${summary(problems)}` : summary(problems)}
				</Button>
			</Popover.Target>
			<Popover.Dropdown p={4} ref={box} tabIndex={-1}>
				{problems.length === 0 ? (
					<Text size="sm" p="xs">
						Nothing to mend: every stage can be reached and every rule is complete.
					</Text>
				) : (
					<ul className={styles.list} aria-label="Problems">
						{problems.map((problem) => (
							<li key={`${problem.code} ${problem.path} ${problem.message}`}>
								<button
									type="button"
									className={styles.problem}
									data-severity={problem.severity}
									onClick={() => jump(placeOfDiagnostic(playbook, problem))}
								>
									<span className={styles.sign} aria-hidden="true">
										{SIGN[problem.severity]}
									</span>
									<span>
										<span className={styles.where}>
											{problem.severity} · {whereabouts(playbook, placeOfDiagnostic(playbook, problem))}
										</span>
										{problem.message}
									</span>
								</button>
								<div className={styles.fix}>
									<Related problem={problem} jump={jump} />
									<FixButton fix={problem.fix} onDone={() => box.current?.focus()} />
								</div>
							</li>
						))}
					</ul>
				)}
				<Button variant="subtle" size="compact-xs" m={4} onClick={report}>
					Report on the graph
				</Button>
			</Popover.Dropdown>
		</Popover>
	);
}
