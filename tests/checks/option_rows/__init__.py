"""The table of options, as rows by command; "" is the main command. A new option: a Row in its command's file."""
from . import batch, bench, contract, devices, diff, files, image, info, manual, report, stats, synth, verbosity, verify

ALL_ROWS = {"": image.ROWS + files.ROWS + batch.ROWS + verbosity.main_rows(), "bench": bench.ROWS, "synth": synth.ROWS,
            "stats": stats.ROWS, "info": info.ROWS, "report": report.ROWS, "verify": verify.ROWS,
            "diff": diff.ROWS, "devices": devices.ROWS,
            "contract": contract.ROWS,
            "help": manual.rows("help"), "docs": manual.rows("docs")}
