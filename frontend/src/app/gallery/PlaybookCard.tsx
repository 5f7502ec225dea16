import { ActionIcon, Menu } from "@mantine/core";
import { exportUrl, type PlaybookSummary } from "../../api/playbooks";
import { ago } from "../../playbook/autosave";
import { plural } from "../../ui/format";
import { DotsIcon } from "../../ui/icons";
import { Link, navigate, paths } from "../router";
import { GraphPicture } from "./GraphPicture";
import styles from "./gallery.module.css";

interface PlaybookCardProps {
	playbook: PlaybookSummary;
	onDuplicate: (playbook: PlaybookSummary) => void;
	onDelete: (playbook: PlaybookSummary) => void;
}

/** "2 errors, 1 warning"; null if there are none. */
function problemWords({ errors, warnings }: PlaybookSummary["problems"]): string | null {
	const parts = [];
	if (errors > 0) parts.push(plural(errors, "error"));
	if (warnings > 0) parts.push(plural(warnings, "warning"));
	return parts.length > 0 ? parts.join(", ") : null;
}

export function PlaybookCard({ playbook, onDuplicate, onDelete }: PlaybookCardProps) {
	const { id, name, description, stageCount, updatedAt, problems, thumbnail } = playbook;
	const wrong = problemWords(problems);
	return (
		<li className={styles.card}>
			<GraphPicture thumbnail={thumbnail} />
			<div className={styles.text}>
				<Link className={styles.name} href={paths.workbench(id)}>
					{name}
				</Link>
				<p className={styles.description}>{description}</p>
				<p className={styles.facts}>
					{plural(stageCount, "stage")} · edited{" "}
					<time dateTime={updatedAt} title={new Date(updatedAt).toLocaleString()}>
						{ago(Date.now() - Date.parse(updatedAt))}
					</time>
					{wrong && (
						<>
							{" · "}
							<span className={styles.wrong} data-severity={problems.errors > 0 ? "error" : "warning"}>
								▲ {wrong}
							</span>
						</>
					)}
				</p>
			</div>
			<Menu position="bottom-end" shadow="sm">
				<Menu.Target>
					<ActionIcon className={styles.more} variant="subtle" color="gray" aria-label={`More for ${name}`}>
						<DotsIcon />
					</ActionIcon>
				</Menu.Target>
				<Menu.Dropdown>
					<Menu.Item onClick={() => navigate(paths.workbench(id))}>Open</Menu.Item>
					<Menu.Item onClick={() => onDuplicate(playbook)}>Duplicate</Menu.Item>
					<Menu.Item component="a" href={exportUrl(id)} download>
						Export as JSON
					</Menu.Item>
					<Menu.Divider />
					<Menu.Item onClick={() => onDelete(playbook)}>Delete</Menu.Item>
				</Menu.Dropdown>
			</Menu>
		</li>
	);
}
