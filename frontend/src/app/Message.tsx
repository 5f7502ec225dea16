import { Button, Stack, Text, Title } from "@mantine/core";
import { Link, paths } from "./router";

interface MessageProps {
	title: string;
	text: string;
	retry?: () => void;
}

/** A page that has only something to say, and the way on. */
export function Message({ title, text, retry }: MessageProps) {
	return (
		<Stack component="main" align="center" justify="center" h="100%" gap="sm" p="md">
			<Title order={1} size="h3">
				{title}
			</Title>
			<Text c="dimmed" ta="center">
				{text}
			</Text>
			{retry && <Button onClick={retry}>Try again</Button>}
			<Link href={paths.gallery()}>All playbooks</Link>
		</Stack>
	);
}
