import { useEffect, useState } from "react";
import { request } from "../api/client";

interface Me {
	readonly models?: readonly {
		readonly id: string;
		readonly provider: string;
		readonly available: boolean;
	}[];
}

let asked: Promise<Me> | undefined;

/** True once it is known that this server has no model but the rehearsal. */
export function useOnlyRehearsal(): boolean {
	const [only, setOnly] = useState(false);
	useEffect(() => {
		let shown = true;
		asked ??= request<Me>("GET", "/api/me");
		asked.then(
			(me) => shown && setOnly(!me.models?.some((one) => one.available && one.provider !== "rehearsal")),
			() => {
				asked = undefined;
			},
		);
		return () => {
			shown = false;
		};
	}, []);
	return only;
}
