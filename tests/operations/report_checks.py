"""Reports of a search and a batch against the dashboards: the same figures, and links that lead into the pages."""
import os
import sys

import dashboard_files as files
import report_beside_dashboards as beside
from monitored_cluster import expand_sql
from report_page import ReportPage

sys.path.insert(0, str(files.SOURCE / "tests" / "cli" / "report"))
from chromium import Browser  # noqa: E402


class ReportChecks:
    def check_reports(self, cluster, search_id, batch_id, begin, end):
        """Pages of `warpsmith report` say what the panels' own SQL answers, and the dashboards' links lead into them."""
        pictures = os.environ["WARPSMITH_PICTURES_DIR"]
        os.makedirs(pictures, exist_ok=True)
        folder = cluster.folder + "/reports"
        os.mkdir(folder)
        browser = Browser()
        self.addCleanup(browser.close)
        for subject, one in (("search", search_id), ("batch", batch_id)):
            cluster.cli("report", one, "-o", folder + "/")
            variables = {subject: one, "timed_on": "emulated device"}

            def ask(statement, variables=variables):
                return cluster.read(expand_sql(statement, begin, end, variables))

            figures = beside.write(subject, f"{folder}/{one}.html", ask, f"{pictures}/{subject}", browser)
            self.assertEqual([], beside.differing(figures))
            told = {figure.name: figure.page for figure in figures}
            self.assertEqual(len(figures), len(told), "a figure's name stands once")
            self.assertNotIn("–", (told["spent on models"], *(t for name, t in told.items() if "best" in name)))
            # It would see a difference.
            spent = beside.queries(f"warpsmith / {subject.title()}")["Spent on models"]
            dearer = [{name: str(float(value) + 1) for name, value in row.items()} for row in ask(spent)]
            _, wrong = beside.compare(subject, f"{folder}/{one}.html",
                                      lambda statement: dearer if statement == spent else ask(statement))
            self.assertEqual(["spent on models"], [row[0] for row in beside.differing(wrong)])
        self.check_links(cluster, folder, {"search": search_id}, begin, end)

    def check_links(self, cluster, folder, variables, begin, end):
        page = ReportPage(f"{folder}/{variables['search']}.html")
        followed = 0
        for dashboard in files.load().values():
            for panel in files.panels(dashboard):
                for override in panel["fieldConfig"]["overrides"]:
                    links = [p["value"] for p in override["properties"] if p["id"] == "links"]
                    if not links or "report_url" not in links[0][0]["url"]:
                        continue
                    column = override["matcher"]["options"]
                    statement = expand_sql(panel["targets"][0]["rawSql"], begin, end,
                                           variables | {"timed_on": "emulated device"})
                    for row in cluster.read(statement):
                        url = links[0][0]["url"].replace("${report_url}", folder + "/")
                        url = url.replace("${search}", variables["search"]).replace("${__value.raw}", row[column])
                        file, anchor = url.split("#")
                        self.assertTrue(os.path.isfile(file), url)
                        self.assertEqual(1, page.ids.get(anchor), f"{panel['title']}: {url}")
                        followed += 1
        self.assertGreaterEqual(followed, 3)
