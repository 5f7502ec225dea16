import { Button, Popover, Text } from "@mantine/core";
import { useState } from "react";
import { endTitle, transitionTitle } from "../playbook/labels";
import { type Diagnostic, placeOfDiagnostic } from "../playbook/problems";
import type { Playbook } from "../playbook/types";
import { useDocument, useEditor, useUi } from "./editor";
import { FixButton } from "./FixButton";
import { jumpTo } from "./operations";
import styles from "./problems.module.css";

const SIGN = { error: "▲", warning: "▲", advice: "·" } as const;

function whereabouts(playbook: Playbook, problem: Diagnostic): string {
	const { stageId, transitionId } = placeOfDiagnostic(playbook, problem);
	const transition = playbook.transitions?.find(({ id }) => id === transitionId);
	if (transition) return transitionTitle(playbook, transition);
	return stageId ? endTitle(playbook, stageId) : "Playbook";
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
	const worst = problems[0]?.severity;
	const jump = (problem: Diagnostic) => {
		setOpened(false);
		jumpTo(editor, placeOfDiagnostic(playbook, problem));
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
			<Popover.Dropdown p={4}>
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
									onClick={() => jump(problem)}
								>
									<span className={styles.sign} aria-hidden="true">
										{SIGN[problem.severity]}
									</span>
									<span>
										<span className={styles.where}>
											{problem.severity} · {whereabouts(playbook, problem)}
										</span>
										{problem.message}
									</span>
								</button>
								<div className={styles.fix}>
									<FixButton fix={problem.fix} />
								</div>
							</li>
						))}
					</ul>
				)}
			</Popover.Dropdown>
		</Popover>
	);
}
