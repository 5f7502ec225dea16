import type { CreatedPlaybook } from "../../api/playbooks";
import { Link, paths } from "../router";
import styles from "./gallery.module.css";

interface CompanionsToastProps {
	name: string;
	companions: CreatedPlaybook["companions"];
	close: () => void;
}

export function CompanionsToast({ name, companions, close }: CompanionsToastProps) {
	return (
		<ul className={styles.companions}>
			{companions.map(({ id, name: called, created }) => (
				<li key={id}>
					<Link className={styles.companion} href={paths.workbench(id)} onClick={close}>
						{called}
					</Link>{" "}
					{created
						? `was created with it: “${name}” calls it as an agent.`
						: `was there already, unchanged: “${name}” calls it as an agent.`}
				</li>
			))}
		</ul>
	);
}
