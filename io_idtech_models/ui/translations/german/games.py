"""German: games, their archives, and the lists of their models."""

TEXTS = {
    "Add Game": "Spiel hinzufügen",
    "Add a game to the list": "Ein Spiel in die Liste aufnehmen",
    "All Shown": "Alle gezeigten",
    "Angle": "Winkel",
    "Animations of {place}": "Animationen aus {place}",
    "Animations: {count}, chosen: {chosen}": "Animationen: {count}, gewählt: {chosen}",
    "Archives: .pak": "Archive: .pak",
    "Archives: .pak, .pk2, .pk3, .pkz, .zip": "Archive: .pak, .pk2, .pk3, .pkz, .zip",
    "Archives: .pak, .pkz": "Archive: .pak, .pkz",
    "Archives: .pk3": "Archive: .pk3",
    "Archives: .pk4": "Archive: .pk4",
    "Arguments": "Argumente",
    "As Its Archives Tell": "Nach seinen Archiven",
    "By the suffix of the archives in its folder": "Nach der Endung der Archive in seinem Ordner",
    "By whose rules one of several files of a name counts": (
        "Nach wessen Regeln von mehreren gleichnamigen Dateien eine gilt"
    ),
    "Choose all models that the list shows": "Alle Modelle wählen, die die Liste zeigt",
    "Choose models of a game's archive, and import them": "Modelle aus dem Archiv eines Spiels wählen und importieren",
    "Choose none of the models that the list shows": "Keines der Modelle wählen, die die Liste zeigt",
    "Choose which models of a game to import": "Wählen, welche Modelle eines Spiels importiert werden",
    "Distance": "Abstand",
    "Down": "Abwärts",
    "Engine": "Engine",
    "Executable": "Programmdatei",
    "Folder": "Ordner",
    "From Game...": "Aus Spiel...",
    "From the camera to a player, in units of the game": "Von der Kamera zum Player, in Einheiten des Spiels",
    "Game Archive": "Spielarchiv",
    "Game Archive (.pk3, .pk4, .pak)": "Spielarchiv (.pk3, .pk4, .pak)",
    "Game Folders: where models find what they name, and File > Import > id Tech > From Game looks": (
        "Spielordner: wo Modelle finden, was sie nennen, und Datei > Importieren > id Tech > Aus Spiel nachsieht"
    ),
    "Import Game Archive": "Spielarchiv importieren",
    "Import Models": "Modelle importieren",
    "Import files one after another": "Dateien eine nach der anderen importieren",
    "Keep": "Beibehalten",
    "Look for files in this game": "In diesem Spiel nach Dateien suchen",
    "Map": "Karte",
    "Mark": "Markieren",
    "Mod": "Mod",
    "Models of a Game": "Modelle eines Spiels",
    "Models of {place}": "Modelle aus {place}",
    "Models: {count}, chosen: {chosen}": "Modelle: {count}, gewählt: {chosen}",
    "Move Game": "Spiel verschieben",
    "Move the active game in the list: what several games have is taken from the first": (
        "Das aktive Spiel in der Liste verschieben: was mehrere Spiele haben, wird vom ersten genommen"
    ),
    "No Game": "Kein Spiel",
    "None Shown": "Keines der gezeigten",
    "Remove Game": "Spiel entfernen",
    "Return to Castle Wolfenstein, multiplayer": "Return to Castle Wolfenstein, Mehrspieler",
    "Search": "Suchen",
    "Seconds after which the game is ended; 0: none": "Sekunden, nach denen das Spiel beendet wird; 0: nie",
    "Show models with all these words in their paths": "Modelle zeigen, in deren Pfad alle diese Wörter vorkommen",
    "Show the active model, as it is now, in its game; nothing of the game's own files changes": (
        "Das aktive Modell, wie es jetzt ist, in seinem Spiel zeigen; an den Dateien des Spiels ändert sich nichts"
    ),
    "Take the active game off the list; its files stay": "Das aktive Spiel aus der Liste nehmen; seine Dateien bleiben",
    "The folder of a mod of the game, whose files come before the game's; may be empty": (
        "Der Ordner einer Mod des Spiels, deren Dateien vor denen des Spiels kommen; darf leer sein"
    ),
    "The folder that holds models/ or archives, such as baseq3, main, base or baseq2": (
        "Der Ordner mit models/ oder Archiven, etwa baseq3, main, base oder baseq2"
    ),
    "The game to start, of those with an executable": "Das Spiel, das gestartet wird, von denen mit Programmdatei",
    "The map that Try in Game starts; empty: a plain room of its own": (
        "Die Karte, die 'Im Spiel ausprobieren' startet; leer: ein einfacher eigener Raum"
    ),
    "The map to start; empty: what the preferences say of the game, or a plain room": (
        "Die Karte, die gestartet wird; leer: die der Einstellungen, oder ein einfacher Raum"
    ),
    "The program that Try in Game runs; nothing else is ever run; empty: none": (
        "Das Programm, das 'Im Spiel ausprobieren' startet, und sonst keines; leer: keines"
    ),
    "Time Limit": "Zeitlimit",
    "Try in Game": "Im Spiel ausprobieren",
    "Up": "Aufwärts",
    "Use": "Benutzen",
    "Wait for the end of the game that was started; Esc ends it": (
        "Auf das Ende des gestarteten Spiels warten; Esc beendet es"
    ),
    "Watch Game": "Spiel beobachten",
    "Way": "Richtung",
    "What a player wears; empty: what it wears here": "Was ein Player trägt; leer: was er hier trägt",
    "What files call the animation; double click to rename it": (
        "Wie Dateien die Animation nennen; Doppelklick zum Umbenennen"
    ),
    "What the dialog and scripts call it; empty: as its folder is called": (
        "Wie der Dialog und Skripte es nennen; leer: wie sein Ordner"
    ),
    "What the program is told, with {base} {game} {mod} {home} {map} {script}; empty: the usual": (
        "Was dem Programm mitgegeben wird, mit {base} {game} {mod} {home} {map} {script}; leer: das Übliche"
    ),
    "Where the camera is around a player, in degrees: 0 behind, as when it is played; 180 in front": (
        "Wo die Kamera um einen Player steht, in Grad: 0 dahinter, wie im Spiel; 180 davor"
    ),
    "Where to": "Wohin",
    "Whose models to list": "Wessen Modelle aufgelistet werden",
    "name a game's folder in the preferences of id Tech Models first": (
        "zuerst den Ordner eines Spiels in den Einstellungen von id Tech Models nennen"
    ),
    "no folder": "kein Ordner",
    "not there": "nicht vorhanden",
    "there is no program '{place}'": "es gibt kein Programm '{place}'",
}
