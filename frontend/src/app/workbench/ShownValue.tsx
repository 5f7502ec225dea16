import { formatJson } from "../../ui/json";
import styles from "./dialogs.module.css";

interface ShownValueProps {
	value: unknown;
	there: boolean;
	sign?: "+" | "-";
}

/** A value of a document as a person reads it: texts as they are, the rest as JSON. */
export function ShownValue({ value, there, sign }: ShownValueProps) {
	if (!there) {
		return (
			<p className={styles.value} data-sign={sign}>
				<em className={styles.quiet}>not set</em>
			</p>
		);
	}
	return (
		<pre className={styles.value} data-sign={sign}>
			{typeof value === "string" ? value || "(empty)" : formatJson(value)}
		</pre>
	);
}
