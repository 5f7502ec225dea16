import { Button } from "@mantine/core";
import type { PlaybookSummary } from "../../api/playbooks";
import { ago } from "../../playbook/autosave";
import styles from "./gallery.module.css";

interface DeletedPlaybooksProps {
	playbooks: readonly PlaybookSummary[];
	onRestore: (playbook: PlaybookSummary) => void;
}

/** What was deleted and can be brought back, folded away; nothing where there is none. */
export function DeletedPlaybooks({ playbooks, onRestore }: DeletedPlaybooksProps) {
	if (playbooks.length === 0) return null;
	return (
		<details className={styles.deleted}>
			<summary>Deleted ({playbooks.length})</summary>
			<ul className={styles.deletedList} aria-label="Deleted playbooks">
				{playbooks.map((playbook) => (
					<li key={playbook.id}>
						<span className={styles.deletedName}>{playbook.name}</span>
						<span>edited {ago(Date.now() - Date.parse(playbook.updatedAt))}</span>
						<Button
							size="compact-sm"
							variant="default"
							aria-label={`Restore ${playbook.name}`}
							onClick={() => onRestore(playbook)}
						>
							Restore
						</Button>
					</li>
				))}
			</ul>
		</details>
	);
}
