import { ActionIcon, Tooltip, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { MoonIcon, SunIcon } from "./icons";

/** Light or dark; follows the system until it is used. */
export function useScheme() {
	const { setColorScheme } = useMantineColorScheme();
	const dark = useComputedColorScheme("light") === "dark";
	return {
		dark,
		label: dark ? "Light colours" : "Dark colours",
		toggle: () => setColorScheme(dark ? "light" : "dark"),
	};
}

export function SchemeToggle() {
	const { dark, label, toggle } = useScheme();
	return (
		<Tooltip label={label}>
			<ActionIcon variant="subtle" color="gray" size={32} aria-label={label} onClick={toggle}>
				{dark ? <SunIcon /> : <MoonIcon />}
			</ActionIcon>
		</Tooltip>
	);
}
