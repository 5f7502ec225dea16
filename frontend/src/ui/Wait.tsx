import { Group, Loader, Text } from "@mantine/core";
import { useEffect, useState } from "react";

const QUIET_MS = 300;

/** Says that something works, once it has taken longer than a person notices. */
export function Wait({ what }: { what: string }) {
	const [shown, setShown] = useState(false);
	useEffect(() => {
		const timer = setTimeout(() => setShown(true), QUIET_MS);
		return () => clearTimeout(timer);
	}, []);
	if (!shown) return null;
	return (
		<Group justify="center" p="xl" gap="xs" role="status">
			<Loader size="xs" />
			<Text size="sm" c="dimmed">
				{what}…
			</Text>
		</Group>
	);
}
